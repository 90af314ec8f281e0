-- How much of each cgroup's time is kernel time? Recordings made with --all-cgroups state the cgroup.
select coalesce(cgroup, '[not recorded]') as cgroup_path, count(distinct host) as hosts,
	cast(count(*) as bigint) as samples,
	cast(sum(case when cpumode = 'KERNEL' then 1 else 0 end) as bigint) as kernel_samples,
	sum(case when cpumode = 'KERNEL' then coalesce(period, 1) * weight else 0 end)
		/ sum(coalesce(period, 1) * weight) as kernel_share
from samples
group by coalesce(cgroup, '[not recorded]')
order by samples desc, cgroup_path

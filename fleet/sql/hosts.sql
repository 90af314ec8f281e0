-- Which hosts send recordings that cannot be trusted? Shares of bytes that could not be read, and of
-- samples that the kernel lost: what to raise an alarm on.
with skipped as (
	select file_id, sum(skipped) as bytes from errors group by file_id
)
select coalesce(f.host, '[unknown]') as host_name, cast(count(*) as bigint) as recordings,
	cast(sum(case when f.status = 'damaged' then 1 else 0 end) as bigint) as damaged,
	cast(sum(case when f.status = 'unreadable' then 1 else 0 end) as bigint) as unreadable,
	1.0e0 * sum(coalesce(s.bytes, 0)) / greatest(sum(f.size), 1) as skipped_share,
	1.0e0 * sum(f.lost_samples) / greatest(sum(f.lost_samples) + sum(f.samples), 1) as lost_share
from files f left join skipped s on s.file_id = f.file_id
group by coalesce(f.host, '[unknown]')
order by skipped_share desc, lost_share desc, host_name

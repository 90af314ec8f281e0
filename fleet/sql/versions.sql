-- Which functions take the time in each version (build id) of a program or library, and on how many
-- hosts does it run?
with own as (
	select n.path as path, n.build_id as build_id, n.function as function,
		count(*) as samples, sum(coalesce(s.period, 1) * s.weight) as weighed
	from samples s join names n on n.frame = s.frame
	where n.depth = 0 and n.build_id is not null
	group by n.path, n.build_id, n.function
), version as (
	select n.path as path, n.build_id as build_id, count(distinct s.host) as hosts,
		sum(coalesce(s.period, 1) * s.weight) as weighed
	from samples s join names n on n.frame = s.frame
	where n.depth = 0 and n.build_id is not null
	group by n.path, n.build_id
)
select o.path as path, o.build_id as build_id, cast(v.hosts as bigint) as hosts,
	o.function as function, cast(o.samples as bigint) as samples,
	o.weighed / v.weighed as share
from own o join version v on v.path = o.path and v.build_id = o.build_id
order by path, build_id, samples desc, function

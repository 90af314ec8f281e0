-- Which functions take the time, on all hosts? Self: samples in the function. Total: samples with the
-- function on the stack, each counted once.
with counted as (
	select frame, stack, count(*) as samples, sum(coalesce(period, 1) * weight) as weighed
	from samples group by frame, stack
), own as (
	select n.function as function, sum(c.samples) as samples, sum(c.weighed) as weighed
	from counted c join names n on n.frame = c.frame where n.depth = 0 group by n.function
), reached as (
	select c.frame as frame, c.stack as stack, n.function as function
	from counted c join stack_frames e on e.stack = c.stack join names n on n.frame = e.frame
	union distinct
	select c.frame as frame, c.stack as stack, n.function as function
	from counted c join names n on n.frame = c.frame
), total as (
	select r.function as function, sum(c.samples) as samples, sum(c.weighed) as weighed
	from counted c join reached r on r.frame = c.frame and r.stack = c.stack
	group by r.function
)
select t.function as function, cast(coalesce(o.samples, 0) as bigint) as self_samples,
	cast(t.samples as bigint) as total_samples, coalesce(o.weighed, 0) as self_weight,
	t.weighed as total_weight
from total t left join own o on o.function = t.function
order by self_samples desc, total_samples desc, function

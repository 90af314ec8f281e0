-- A flame graph of all hosts: folded stacks, as preport and flame graph programs read them. Stacks are
-- counted first and named once each.
with counted as (
	select comm, stack, count(*) as samples from samples group by comm, stack
), folded as (
	select e.stack as stack,
		listagg(n.function, ';') within group (order by e.position desc, n.depth desc) as functions
	from stack_frames e join names n on n.frame = e.frame
	group by e.stack
)
select concat(coalesce(c.comm, '[unknown]'), ';', f.functions) as line,
	cast(sum(c.samples) as bigint) as samples
from counted c join folded f on f.stack = c.stack
group by concat(coalesce(c.comm, '[unknown]'), ';', f.functions)
order by line

-- Which functions became slower or faster between two versions of a program? compared(old, new) has
-- their build ids. A version's samples are those with a frame of it on their stacks; of these, p1 and
-- p2 are the shares with the function on the stack. z is that of two proportions, q the p-value after
-- Benjamini and Hochberg: of the functions with q below 0.05, one in 20 is expected to be chance.
with versions as (
	select old as build_id, 1 as version from compared
	union all
	select new as build_id, 2 as version from compared
), taken as (
	select v.version as version, s.stack as stack, count(*) as samples
	from samples s
	join (select distinct e.stack as stack, v.version as version
	      from stack_frames e join frames f on f.frame = e.frame
	      join versions v on v.build_id = f.build_id) v on v.stack = s.stack
	group by v.version, s.stack
), totals as (
	select sum(case when version = 1 then samples else 0 end) as n1,
		sum(case when version = 2 then samples else 0 end) as n2
	from taken
), hit as (
	select r.function as function, sum(case when t.version = 1 then t.samples else 0 end) as k1,
		sum(case when t.version = 2 then t.samples else 0 end) as k2
	from taken t
	join (select distinct e.stack as stack, n.function as function
	      from stack_frames e join names n on n.frame = e.frame) r on r.stack = t.stack
	group by r.function
), shares as (
	select h.function as function, h.k1 + h.k2 as samples, 1.0e0 * h.k1 / t.n1 as p1,
		1.0e0 * h.k2 / t.n2 as p2, 1.0e0 * (h.k1 + h.k2) / (t.n1 + t.n2) as p,
		1.0e0 / t.n1 + 1.0e0 / t.n2 as spread
	from hit h cross join totals t
	where t.n1 > 0 and t.n2 > 0 and h.k1 + h.k2 >= 100 and h.k1 + h.k2 < t.n1 + t.n2
), tested as (
	select function, samples, p1, p2, (p2 - p1) / sqrt(p * (1 - p) * spread) as z from shares
), scaled as (
	select function, samples, p1, p2, z, abs(z) / sqrt(2.0e0) as x,
		1 / (1 + 0.5e0 * abs(z) / sqrt(2.0e0)) as t
	from tested
), valued as (
	-- erfc(x), the Chebyshev approximation of relative error 1.2e-7
	select function, samples, p1, p2, z, t * exp(-x * x - 1.26551223e0 + t * (1.00002368e0
		+ t * (0.37409196e0 + t * (0.09678418e0 + t * (-0.18628806e0 + t * (0.27886807e0
		+ t * (-1.13520398e0 + t * (1.48851587e0 + t * (-0.82215223e0
		+ t * 0.17087277e0))))))))) as p
	from scaled
), ranked as (
	select function, samples, p1, p2, z, p, count(*) over () as tests,
		row_number() over (order by p, function) as place
	from valued
)
select function, cast(samples as bigint) as samples, p1, p2, z,
	least(1, min(p * tests / place) over (
		order by place desc rows between unbounded preceding and current row)) as q
from ranked
order by q, abs(z) desc, function

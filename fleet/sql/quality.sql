-- How far can the numbers be trusted? Shares of the samples: lost by the kernel, in no mapped file, and
-- without a symbol, by object; and of the recordings: damaged and unreadable. The rows of `quality`
-- divide all samples by what is known of their place: named, an object, unmapped, unknown.
with own as (
	select n.label as label, n.kind as kind, count(*) as samples,
		sum(case when n.has_symbol = 1 then 0 else 1 end) as nameless
	from samples s join names n on n.frame = s.frame where n.depth = 0
	group by n.label, n.kind
), everything as (
	select sum(samples) as samples from own
), qualities as (
	select 'named' as quality, cast(o.samples - o.nameless as bigint) as samples from own o
	union all
	select case when o.kind in ('unmapped', 'unknown') then o.kind else 'object' end,
		cast(o.nameless as bigint)
	from own o
), recordings as (
	select count(*) as files, sum(lost_samples) as lost,
		sum(case when status = 'damaged' then 1 else 0 end) as damaged,
		sum(case when status = 'unreadable' then 1 else 0 end) as unreadable
	from files
), answer as (
	select 'lost' as measure, '' as object, cast(r.lost as bigint) as found,
		1.0e0 * r.lost / (r.lost + e.samples) as share
	from recordings r cross join everything e
	union all
	select 'damaged', '', cast(r.damaged as bigint), 1.0e0 * r.damaged / r.files from recordings r
	union all
	select 'unreadable', '', cast(r.unreadable as bigint), 1.0e0 * r.unreadable / r.files
	from recordings r
	union all
	select 'unmapped', '', cast(sum(o.samples) as bigint), 1.0e0 * sum(o.samples) / max(e.samples)
	from own o cross join everything e where o.kind = 'unmapped'
	union all
	select 'without a symbol', o.label, cast(sum(o.nameless) as bigint),
		1.0e0 * sum(o.nameless) / sum(o.samples)
	from own o group by o.label
	union all
	select 'quality', q.quality, cast(sum(q.samples) as bigint),
		1.0e0 * sum(q.samples) / max(e.samples)
	from qualities q cross join everything e group by q.quality
)
select measure, object, found, share from answer order by measure, object

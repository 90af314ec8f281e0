-- Tables of one place, with keys in place of the numbers that belong to one recording. Input: views
-- files, samples, stacks, frames, objects, rules. Output: fleet_frames, fleet_stack_frames, fleet_samples.
--
-- A key is 63 bits of an MD5. A frame is its build id and offset; without a build id, its path on
-- its host. Markers are left out, since each frame has its kind; so is the address of an unmapped
-- frame, which means nothing elsewhere.

create temp table placed as
with located as (
	select f.file_id, f.frame as number, f.kind, o.build_id, o.path, files.host,
		case when f.object is not null then f."offset" end as "offset", f.exact, f.name,
		case when f.kind = 'marker' then f.name
			when f.object is null then '[' || f.kind || ']'
			when o.path like '[%' then o.path
			else '[' || regexp_extract(o.path, '[^/]*$') || ']' end as label
	from frames f join files using (file_id)
	left join objects o on o.file_id = f.file_id and o.object = f.object
), written as (
	select *, concat_ws('|', kind, coalesce(build_id, host || ':' || path, ''),
		coalesce("offset"::varchar, ''), coalesce(exact::varchar, ''), coalesce(name, '')) as text
	from located
)
select *, (md5_number_lower(text) >> 1)::bigint as frame from written;

create temp table entries as
with numbered as (
	select file_id, stack, unnest(frames) as number, generate_subscripts(frames, 1) as entry
	from stacks
)
select n.file_id, n.stack, n.entry, p.frame
from numbered n join placed p on p.file_id = n.file_id and p.number = n.number
where p.kind <> 'marker';

create temp table keyed as
select file_id, stack as number, string_agg(frame::varchar, ',' order by entry) as text,
	(md5_number_lower(text) >> 1)::bigint as stack
from entries group by file_id, stack;

create temp table matched as
with kinds as (
	select distinct files.host, s.comm, s.cgroup from samples s join files using (file_id)
)
select k.host, k.comm, k.cgroup, min(r.rule) as rule
from kinds k join rules r on (r.host is null or k.host glob r.host)
	and (r.comm is null or k.comm glob r.comm) and (r.cgroup is null or k.cgroup glob r.cgroup)
group by k.host, k.comm, k.cgroup;

-- A sample without a call chain has a stack of its own frame.
create temp table fleet_samples as
select r.service, r.version, s.comm, p.build_id, s.time, files.host, s.event_name, s.cpu, s.pid, s.tid, s.cpumode,
	s.cgroup, coalesce(p.frame, 0) as frame,
	coalesce(k.stack, (md5_number_lower(coalesce(p.frame, 0)::varchar) >> 1)::bigint) as stack,
	s.period, files.weight, s.file_id, r.host_group, k.stack is null as is_single
from samples s join files using (file_id)
left join matched m on m.host is not distinct from files.host
	and m.comm is not distinct from s.comm and m.cgroup is not distinct from s.cgroup
left join rules r on r.rule = m.rule
left join placed p on p.file_id = s.file_id and p.number = s.frame
left join keyed k on k.file_id = s.file_id and k.number = s.stack;

create temp table fleet_stack_frames as
select distinct k.stack, (row_number() over (
		partition by e.file_id, e.stack order by e.entry) - 1)::integer as position, e.frame
from entries e join keyed k on k.file_id = e.file_id and k.number = e.stack
union
select distinct stack, 0, frame from fleet_samples where is_single;

create temp table fleet_frames as
select frame, min(kind) as kind, min(build_id) as build_id, min(path) as path,
	min("offset") as "offset", bool_and(exact) as exact, min(label) as label
from placed where kind <> 'marker' group by frame
union all
select 0, 'unknown', null, null, null, null, '[no address]';

create temp table collisions as
select (select count(*) from (select frame from placed group by frame
		having count(distinct text) > 1))
	+ (select count(*) from (select stack from keyed group by stack
		having count(distinct text) > 1)) as found;

-- The functions of each frame: one, or several where functions were inlined (depth 0 is the innermost).
-- A frame without a symbol has the name of its file, in brackets. The other queries read this as a
-- view, `names`.
select f.frame as frame, coalesce(s.depth, 0) as depth, coalesce(s.function, f.label) as function,
	f.kind as kind, f.build_id as build_id, f.path as path, f.label as label,
	case when s.function is null then 0 else 1 end as has_symbol
from frames f
left join symbols s on s.build_id = f.build_id and s.offset = f.offset and s.exact = f.exact

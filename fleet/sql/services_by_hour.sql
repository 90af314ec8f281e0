-- How much time does each version of a service take, hour by hour? Of the hourly
-- counts, which stay when the samples are removed.
with hours as (
	select upload_hour, sum(weighed) as weighed from hourly group by upload_hour
)
select h.upload_hour as upload_hour, coalesce(h.service, '[unknown]') as service_name,
	coalesce(h.version, '[unknown]') as version_name,
	coalesce(h.host_group, '[unknown]') as group_name,
	cast(sum(h.samples) as bigint) as samples, sum(h.weighed) as weight,
	sum(h.weighed) / max(t.weighed) as share
from hourly h join hours t on t.upload_hour = h.upload_hour
group by h.upload_hour, coalesce(h.service, '[unknown]'), coalesce(h.version, '[unknown]'),
	coalesce(h.host_group, '[unknown]')
order by upload_hour, service_name, version_name, group_name

/* What the user sees of a node, in words. */
const nameOf = (t, n) => file.functions[t.func[n]][0];
const shortImage = image => image.split('/').pop();
const percent = part => (100 * part).toFixed(2) + ' %';
const share = (part, all) => percent(all ? part / all : 0);
const signed = change => (change > 0 ? '+' : change < 0 ? '−' : '±') + abs(100 * change).toFixed(2);

function amount(value) {
	if (measure || file.unit !== 'ns')
		return value.toLocaleString('en') + (measure ? value === 1 ? ' sample' : ' samples' : '');
	return duration(value);
}

function duration(ns) {
	for (const [unit, name] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']])
		if (ns >= unit)
			return (ns / unit).toFixed(3) + ' ' + name;
	return ns ? ns + ' ns' : '0';
}

/* Shares before and after, and how they differ. */
function changeOf(t, n) {
	const after = t.after[n] / (file.totals[measure] || 1);
	const before = t.before[n] / (file.totals[measure + 2] || 1);
	return [before, after, after - before];
}

function describeValues(t, n) {
	if (file.base) {
		const [before, after, change] = changeOf(t, n);
		return [`before ${percent(before)} · after ${percent(after)} · change ${signed(change)}`];
	}
	const all = base.total[0], view = t === tree && focus ? t.total[focus] : 0;
	return [`total ${amount(t.total[n])} · ${share(t.total[n], all)} of all` +
		(view ? ` · ${share(t.total[n], view)} of view` : ''),
	`self ${amount(t.own[n])} · ${share(t.own[n], all)}`];
}

function describe(t, n, lines) {
	const [name, image, kind, why, place] = file.functions[t.func[n]];
	const parts = [name, KINDS[kind] + (image ? ' · ' + image : ''), place, why && 'no name: ' + why,
		...describeValues(t, n)];
	return parts.filter(part => part).join(lines ? '\n' : '  —  ');
}

const path = (t, n, name = nameOf) => {
	const names = [];
	for (; n > 0; n = t.parent[n])
		names.push(name(t, n));
	return names.reverse();
};

/* In folded stacks ";" is between frames, and a thread has no blanks. */
const folded = (t, n) =>
	nameOf(t, n).replace(/;/g, ':').replace(kindOf(t, n) === THREAD ? / /g : /;/, '_');

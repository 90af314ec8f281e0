/* Search: which functions match, and how much of the time they are in. */
const shownFrom = () => view === 'sandwich' || view === 'time' ? 0 : focus;
let query = '', matches = null;

function matcher() {
	if (query.startsWith('='))
		return name => name === query.slice(1);
	const regex = /^\/(.+)\/$/.exec(query);
	if (regex) {
		const it = new RegExp(regex[1]);
		return name => it.test(name);
	}
	return name => name.toLowerCase().includes(query.toLowerCase());
}

/* The outermost nodes that match: each sample counts once. */
function found() {
	const out = [], todo = [shownFrom()];
	while (todo.length) {
		const n = todo.pop();
		if (matches[tree.func[n]]) {
			out.push(n);
			continue;
		}
		for (let c = tree.first[n]; c >= 0; c = tree.next[c])
			todo.push(c);
	}
	return out.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
}

function count() {
	if (!matches)
		return;
	const sum = found().reduce((all, n) => all + tree.total[n], 0);
	const functions = matches.reduce((a, b) => a + b, 0);
	$('found').textContent = share(sum, tree.total[shownFrom()]) + ' matched, ' +
		functions + (functions === 1 ? ' function' : ' functions');
}

function find(text) {
	query = text;
	if ($('find').value !== text)
		$('find').value = text;
	$('found').textContent = '';
	matches = null;
	if (query)
		try {
			const match = matcher();
			matches = file.functions.map(f => match(f[0]) ? 1 : 0);
			count();
		} catch {
			$('found').textContent = 'not a valid expression';
		}
	show();
}

/* Goes to the next match by weight. */
function nextMatch(by) {
	if (!matches)
		return;
	const all = found(), at = all.indexOf(chosen);
	if (all.length)
		chosen = all[at < 0 ? by > 0 ? 0 : all.length - 1 : (at + by + all.length) % all.length];
	show();
}

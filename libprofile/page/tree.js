/* Trees made of the file's: totals and places, from the leaf, around one function, of a range. */

/* What the widths show: a column; in a difference shares of all, so that recordings of different
 * lengths compare. */
function widths(t) {
	if (!file.base)
		return t.self[measure];
	const after = t.self[measure], before = t.self[measure + 2];
	const [all, allBefore] = [file.totals[measure], file.totals[measure + 2]].map(n => n || 1);
	return Float64Array.from(after, (value, i) => {
		const a = value / all, b = before[i] / allBefore;
		return { after: a, before: b, larger: max(a, b) }[width];
	});
}

const sum = column => column.reduce((all, n) => all + n, 0);

function sumUp(t, self) {
	const total = self.slice();
	for (let i = t.count - 1; i > 0; i--)
		total[t.parent[i]] += total[i];
	return total;
}

/* Children of each node in a row; parents come before their children. */
function childrenOf(t) {
	const from = new Int32Array(t.count + 1), all = new Int32Array(max(t.count - 1, 0));
	for (let i = 1; i < t.count; i++)
		from[t.parent[i] + 1]++;
	for (let i = 0; i < t.count; i++)
		from[i + 1] += from[i];
	const end = from.slice();
	for (let i = 1; i < t.count; i++)
		all[end[t.parent[i]]++] = i;
	return { from, all };
}

function arrange(t) {
	const n = t.count, { from, all } = childrenOf(t);
	t.own = widths(t);
	t.total = sumUp(t, t.own);
	if (file.base)
		[t.after, t.before] = [0, 2].map(k => sumUp(t, t.self[measure + k]));
	t.first = new Int32Array(n).fill(-1);
	t.next = new Int32Array(n).fill(-1);
	t.start = new Float64Array(n);
	t.depth = new Int32Array(n);
	const name = i => file.functions[t.func[i]][0];
	const compare = byName ? (a, b) => name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b :
		(a, b) => t.total[b] - t.total[a] || a - b;
	for (let i = 0; i < n; i++) {
		const below = all.subarray(from[i], from[i + 1]);
		if (below.length > 1)
			below.sort(compare);
		for (let k = 0, x = t.start[i]; k < below.length; k++) {
			const c = below[k];
			if (k)
				t.next[below[k - 1]] = c;
			else
				t.first[i] = c;
			t.start[c] = x;
			t.depth[c] = t.depth[i] + 1;
			x += t.total[c];
		}
	}
	return t;
}

/* Makes trees: a hash table of (parent, function). */
class Builder {
	constructor(func) {
		this.parent = [-1];
		this.func = [func];
		this.self = whole.self.map(() => [0]);
		this.slots = new Int32Array(1 << 12).fill(-1);
	}

	slot(at, func) {
		const mask = this.slots.length - 1;
		let i = (Math.imul(at, 0x9e3779b1) ^ Math.imul(func + 1, 0x85ebca6b)) >>> 7 & mask;
		for (let n; (n = this.slots[i]) >= 0; i = i + 1 & mask)
			if (this.parent[n] === at && this.func[n] === func)
				break;
		return i;
	}

	child(at, func) {
		const i = this.slot(at, func);
		if (this.slots[i] >= 0)
			return this.slots[i];
		const n = this.slots[i] = this.parent.length;
		this.parent.push(at);
		this.func.push(func);
		for (const column of this.self)
			column.push(0);
		if (n * 2 > this.slots.length)
			this.grow();
		return n;
	}

	grow() {
		this.slots = new Int32Array(this.slots.length * 4).fill(-1);
		for (let n = 1; n < this.parent.length; n++)
			this.slots[this.slot(this.parent[n], this.func[n])] = n;
	}

	add(at, columns, i) {
		columns.forEach((column, k) => { this.self[k][at] += column[i]; });
	}

	finish() {
		return arrange({ count: this.parent.length, parent: Int32Array.from(this.parent),
			func: Int32Array.from(this.func), self: this.self.map(list => Float64Array.from(list)) });
	}
}

/* Stacks from the leaf: what calls a function. */
function invert(t) {
	const b = new Builder(t.func[0]);
	for (let i = 1; i < t.count; i++) {
		if (t.self.every(column => !column[i]))
			continue;
		let at = 0;
		for (let n = i; n > 0; n = t.parent[n])
			at = b.child(at, t.func[n]);
		b.add(at, t.self, i);
	}
	return b.finish();
}

/* The callers and the callees of a function. One that calls itself counts once, from its outermost
 * call. */
function around(t, func) {
	const callers = new Builder(func), callees = new Builder(func);
	const totals = t.self.map(column => sumUp(t, column)), place = new Int32Array(t.count).fill(-1);
	for (let i = 1; i < t.count; i++) {
		const above = place[t.parent[i]];
		if (above >= 0) {
			place[i] = callees.child(above, t.func[i]);
		} else if (t.func[i] === func) {
			let at = 0;
			place[i] = 0;
			for (let n = t.parent[i]; n > 0; n = t.parent[n])
				at = callers.child(at, t.func[n]);
			callers.add(at, totals, i);
		}
		if (place[i] >= 0)
			callees.add(place[i], t.self, i);
	}
	return [callers.finish(), callees.finish()];
}

/* The stacks without the names of threads. */
function ungroup(t) {
	const b = new Builder(t.func[0]), place = new Int32Array(t.count);
	for (let i = 1; i < t.count; i++) {
		const above = place[t.parent[i]];
		place[i] = kindOf(t, i) === THREAD ? above : b.child(above, t.func[i]);
		b.add(place[i], t.self, i);
	}
	return { ...b.finish(), placeOf: (thread, n) => place[n] };
}

/* Whether a node is one of those that are shown: all, or those on or off the CPU. */
const isShown = n => whole.waits[n] !== hiddenWaits;

/* The file's tree with those nodes. */
function onlyShown() {
	return { ...whole, self: whole.self.map(column => column.map((value, i) => isShown(i) ? value : 0)) };
}

/* Calls each(thread, node, weight, samples) for what is in the range of time. */
function eachInRange(each) {
	const [from, to] = range || [0, Infinity];
	for (const thread of threads)
		for (let i = after(thread.times, from); i < thread.count && thread.starts[i] < to; i++) {
			const start = thread.starts[i], end = thread.times[i], n = thread.nodes[i], shown = isShown(n);
			const part = start < end ? (min(end, to) - max(start, from)) / (end - start) : 1;
			each(thread, n, shown ? thread.weights[i] * part : 0, shown && part > 0);
		}
}

function add(t, n, weight, samples) {
	t.self[0][n] += weight;
	t.self[1][n] += samples;
}

/* The file's tree with the samples of the range only. */
function inRange() {
	const t = newTree(whole.count);
	eachInRange((thread, n, weight, samples) => add(t, n, weight, samples));
	return { ...whole, self: t.self };
}

/* The stacks below the names of processes, not of threads. */
function byProcess() {
	const b = new Builder(whole.func[0]), places = {};
	for (const pid in processes)
		places[pid] = new Map([[0, 0]]);
	const placeOf = (thread, n) => {
		const known = places[thread.pid], todo = [];
		while (!known.has(n)) {
			todo.push(n);
			n = whole.parent[n];
		}
		let at = known.get(n) || b.child(0, processes[thread.pid]);
		while (todo.length) {
			const next = todo.pop(), func = whole.func[next];
			at = file.functions[func][2] === THREAD ? at : b.child(at, func);
			known.set(next, at);
		}
		return at;
	};
	eachInRange((thread, n, weight, samples) => add(b, placeOf(thread, n), weight, samples));
	return { ...b.finish(), placeOf };
}

/* The first time that is not before another. */
function after(times, time) {
	let low = 0, high = times.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* [function, self, total, samples, self before, total before] of each function; a sample counts
 * once however often the function is in its stack. */
function sums(t) {
	const rows = file.functions.map((f, i) => [i, 0, 0, 0, 0, 0]), open = new Int32Array(rows.length);
	const totals = t.self.map(column => sumUp(t, column)), walk = [0];
	while (walk.length) {
		const n = walk.pop();
		if (n < 0) {
			open[t.func[~n]]--;
			continue;
		}
		const row = rows[t.func[n]], is_outermost = !open[t.func[n]]++;
		row[1] += t.self[measure][n];
		row[3] += t.self[1][n];
		if (is_outermost)
			row[2] += totals[measure][n];
		if (file.base) {
			row[4] += t.self[measure + 2][n];
			row[5] += is_outermost ? totals[measure + 2][n] : 0;
		}
		walk.push(~n);
		for (let c = t.first[n]; c >= 0; c = t.next[c])
			walk.push(c);
	}
	return rows.filter(row => (row[2] || row[5]) && file.functions[row[0]][2] < THREAD);
}

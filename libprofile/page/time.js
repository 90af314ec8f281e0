/* When: a heat map of the whole time, and the stacks of each thread one after the other. */
const HEAT_ROWS = 25, HEAT_CELL = 5, THREADS_SHOWN = 20, HEAD = 22;
let range = null, heat = null, cursor = 0;

const endOfTime = () => threads.reduce((end, t) => max(end, t.times[t.count - 1] || 0), 0) + 1;

/* A column is a power of ten, or half of it; its rows are parts of it, upward. */
function measureHeat(room) {
	const end = endOfTime(), most = max(10, floor(room / 6));
	let column = 100;
	while (end / column > most)
		column *= String(column)[0] === '1' ? 5 : 2;
	const columns = ceil(end / column), row = column / HEAT_ROWS;
	const cells = new Float64Array(columns * HEAT_ROWS);
	for (const thread of threads)
		for (let i = 0; i < thread.count; i++)
			spread(cells, row, thread.starts[i], thread.times[i], thread.weights[i]);
	return { end, column, columns, row, cells, most: cells.reduce((a, b) => max(a, b), 0), room };
}

/* A wait is in all the cells of its time. */
function spread(cells, row, start, end, weight) {
	for (let i = floor(start / row), at = start; at <= end; at = ++i * row)
		cells[i] += start < end ? weight * (min(end, (i + 1) * row) - at) / (end - start) : weight;
}

function drawHeat() {
	const room = roomOf();
	if (!heat || heat.room !== room)
		heat = measureHeat(room);
	const [g] = prepare($('heat'), HEAT_ROWS * HEAT_CELL + 18), w = room / heat.columns;
	heat.cells.forEach((weight, i) => {
		const x = floor(i / HEAT_ROWS) * w, y = (HEAT_ROWS - 1 - i % HEAT_ROWS) * HEAT_CELL;
		if (weight) {
			g.fillStyle = mix(colors.ground, colors.heat, 0.15 + 0.85 * sqrt(weight / heat.most));
			g.fillRect(x, y, max(w - (w > 4 ? 1 : 0), 0.5), HEAT_CELL);
		}
		if (range && i * heat.row >= range[0] && i * heat.row < range[1]) {
			g.globalAlpha = 0.35;
			g.fillStyle = colors.mark;
			g.fillRect(x, y, w, HEAT_CELL);
			g.globalAlpha = 1;
		}
	});
	drawScale(g, room, 0, heat.columns * heat.column, HEAT_ROWS * HEAT_CELL + 9);
}

/* Times below, at round numbers. */
function drawScale(g, room, from, to, y) {
	let step = 1;
	while ((to - from) / step > room / 110)
		step *= String(step)[0] === '1' ? 5 : 2;
	g.fillStyle = colors.dim;
	for (let time = ceil(from / step) * step; time < to; time += step)
		g.fillText(duration(time * 1000).replace(/\.?0+ /, ' '), (time - from) / (to - from) * room + 2, y);
}

function cellAt(event) {
	const place = $('heat').getBoundingClientRect();
	const inside = (value, most) => max(0, min(most, floor(value)));
	const x = inside((event.clientX - place.left) / place.width * heat.columns, heat.columns - 1);
	return x * HEAT_ROWS + HEAT_ROWS - 1 - inside((event.clientY - place.top) / HEAT_CELL, HEAT_ROWS - 1);
}

function setRange(next) {
	range = next;
	rebuild();
	show();
}

function setCells(a, b) {
	cursor = b;
	setRange([min(a, b) * heat.row, (max(a, b) + 1) * heat.row]);
}

/* The keys move by columns. */
function moveHeat(event) {
	const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
	if (!by)
		return false;
	const at = max(0, min(heat.columns - 1, floor(cursor / HEAT_ROWS) + (range ? by : 0)));
	const start = event.shiftKey && range ? min(range[0], at * heat.column) : at * heat.column;
	cursor = at * HEAT_ROWS;
	setRange([start, (at + 1) * heat.column]);
	return true;
}

/* --- the chart --- */

/* The usual distance of a thread's samples: gaps much wider are no time of a stack. */
function stepOf(thread) {
	if (thread.step === undefined) {
		const times = thread.times.filter((time, i) => thread.starts[i] === time);
		const gaps = times.slice(1).map((time, i) => time - times[i]).sort();
		thread.step = gaps[gaps.length >> 1] || 1;
	}
	return thread.step;
}

/* Calls each(node, start, end) for the samples of a range, at most one for each half pixel. */
function eachSample(thread, [from, to], room, each) {
	const least = (to - from) / room / 2, step = 2 * stepOf(thread);
	for (let i = after(thread.times, from), last = -Infinity; i < thread.count && thread.starts[i] < to; i++) {
		const time = thread.times[i];
		if (time - last < least)
			continue;
		const before = thread.starts[i] < time ? thread.starts[i] : max(last, time - max(step, least));
		each(thread.nodes[i], max(from, before), min(to, time));
		last = time;
	}
}

/* The boxes of a thread: a frame goes on while the next sample has it at the same place. */
function layChart(thread, times, room) {
	const out = [], open = [];
	let deepest = 0;
	const close = depth => {
		while (open.length > depth)
			out.push(open.pop());
	};
	eachSample(thread, times, room, (node, start, end) => {
		const stack = [];
		for (let n = node; n > 0; n = whole.parent[n])
			if (kindOf(whole, n) !== THREAD)
				stack.push(n);
		stack.reverse();
		let same = 0;
		while (same < open.length && same < stack.length && open[same].node === stack[same] && open[same].end >= start)
			same++;
		close(same);
		for (let k = 0; k < same; k++)
			open[k].end = end;
		for (let k = same; k < stack.length; k++)
			open.push({ node: stack[k], depth: k, start, end });
		deepest = max(deepest, stack.length);
	});
	close(0);
	return { out, rows: deepest };
}

function drawTime() {
	const room = roomOf();
	drawHeat();
	const times = range || [0, heat.columns * heat.column], [from, to] = times;
	const shown = [...threads].filter(t => t.count && t.starts[0] < to && t.times[t.count - 1] >= from)
		.sort((a, b) => b.total - a.total).slice(0, THREADS_SHOWN);
	const parts = shown.map(thread => ({ thread, ...layChart(thread, times, room) }));
	const height = min(HIGHEST, parts.reduce((sum, part) => sum + HEAD + part.rows * ROW + 8, HEAD));
	const [g] = prepare($('graph'), height);
	drawScale(g, room, from, to, HEAD / 2);
	boxes = [];
	const placeOf = base.placeOf || ((thread, n) => n);
	let y = HEAD;
	for (const { thread, out, rows } of parts) {
		g.globalAlpha = 1;
		g.fillStyle = colors.line;
		g.fillRect(0, y, room, 1);
		g.fillStyle = colors.text;
		g.fillText(`${thread.name || ':' + thread.tid} ${thread.pid}/${thread.tid} · ${share(thread.total, whole.total[0])}`, 4, y + HEAD / 2);
		for (const { node, depth, start, end } of out) {
			const x = floor((start - from) / (to - from) * room), next = (end - from) / (to - from) * room;
			drawBox(g, base, placeOf(thread, node), x, y + HEAD + depth * ROW, max(floor(next) - x, 1), 1);
		}
		y += HEAD + rows * ROW + 8;
	}
	g.globalAlpha = 1;
}

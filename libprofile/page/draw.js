/* The graph: only what is wide enough to see is walked. */
const ROW = 20, NARROW = 0.4, HIGHEST = 16000;
const roomOf = () => $('main').clientWidth;
let boxes = [];

/* [node, x, width, alpha, row] of what is visible below a node. The narrow callees of a frame are one
 * bar: its node is ~ that of the frame, and a text follows. */
function visible(t, from, room) {
	const scale = room / (t.total[from] || 1), out = [], todo = [from];
	let rows = t.depth[from] + 1;
	for (let n = t.parent[from]; n >= 0; n = t.parent[n])
		out.push([n, 0, room, 0.5, t.depth[n]]);
	while (todo.length) {
		const n = todo.pop(), row = t.depth[n] + 1;
		let sum = 0, many = 0, start = -1;
		out.push([n, (t.start[n] - t.start[from]) * scale, t.total[n] * scale, 1, row - 1]);
		rows = max(rows, row);
		for (let c = t.first[n]; c >= 0; c = t.next[c]) {
			const w = t.total[c] * scale;
			if (w >= NARROW) {
				todo.push(c);
				continue;
			}
			if (start < 0)
				start = (t.start[c] - t.start[from]) * scale;
			sum += t.total[c];
			many++;
		}
		if (sum * scale >= NARROW) {
			out.push([~n, start, sum * scale, 1, row, `${many} functions too narrow to draw · ${share(sum, base.total[0])}`]);
			rows = max(rows, row + 1);
		}
	}
	return { out, rows };
}

function prepare(canvas, height) {
	const room = roomOf(), g = canvas.getContext('2d');
	const dpr = min(devicePixelRatio || 1, HIGHEST / height);
	canvas.width = room * dpr;
	canvas.height = height * dpr;
	canvas.style.width = room + 'px';
	canvas.style.height = height + 'px';
	g.scale(dpr, dpr);
	g.font = '12px system-ui, sans-serif';
	g.textBaseline = 'middle';
	return [g, room];
}

/* A name without the arguments of templates and functions, for where it has little room. */
function shorten(name) {
	let out = '', depth = 0;
	for (let i = 0; i < name.length; i++) {
		const c = name[i], isOperator = /operator[<>()\-=]*$/.test(name.slice(max(0, i - 12), i));
		if ((c === '<' || c === '(') && i && !isOperator && !name.startsWith('(anonymous', i))
			out += !depth++ && c === '<' ? '<…>' : '';
		else if ((c === '>' || c === ')') && depth && name[i - 1] !== '-')
			depth--;
		else if (!depth)
			out += c;
	}
	return depth ? name : out;
}

/* What fits of a name: all of it, without arguments, its last part, or its ends. */
function fit(g, name, room) {
	const fits = text => text.length * 2 < room && g.measureText(text).width <= room;
	if (fits(name))
		return name;
	const short = name.length < 1000 ? shorten(name) : name.slice(0, 500);
	const last = '…' + short.slice(short.lastIndexOf('::') + 2);
	for (const text of [short, short.includes('::') ? last : short])
		if (fits(text))
			return text;
	const text = (short.includes('::') ? last.slice(1) : short).replaceAll('<…>', '');
	for (let keep = min(floor(room / 4), text.length - 1); keep > 1; keep--) {
		const head = ceil(keep * 0.7), cut = text.slice(0, head) + '…' + text.slice(text.length - (keep - head));
		if (fits(cut))
			return cut;
	}
	return '';
}

function draw() {
	const isSandwich = view === 'sandwich', room = roomOf(), drawn = (isSandwich ? sandwich : [tree]).map(t =>
		({ t, ...visible(t, t === tree && !isSandwich ? focus : 0, room) }));
	const rows = drawn.map(part => part.rows), above = isSandwich ? rows[0] - 1 : 0;
	const height = min((isSandwich ? above + rows[1] : rows[0]) * ROW + 2, HIGHEST);
	const [g] = prepare($('graph'), height);
	boxes = [];
	drawn.forEach(({ t, out }, k) => {
		const upward = view === 'flame' || isSandwich && !k;
		for (const [n, x, w, alpha, row, text] of out) {
			if (isSandwich && !k && !row)
				continue;	/* the function itself is the first of its callees */
			const y = isSandwich ? (above + (k ? row : -row)) * ROW :
				upward ? height - (row + 1) * ROW : row * ROW;
			drawBox(g, t, n, x, y, w, alpha, text);
		}
	});
	g.globalAlpha = 1;
	return above;
}

function drawBox(g, t, n, x, y, w, alpha, text) {
	const hit = matches && matches[t.func[n]];
	alpha *= matches && !hit ? 0.35 : 1;
	g.globalAlpha = alpha;
	g.fillStyle = text ? colors.line : colorOf(t, n);
	g.fillRect(x, y, max(w - (w > 3 ? 1 : 0), NARROW), ROW - 1);
	boxes.push([n, x, y, w, t, text]);
	if (!text)
		mark(g, t, n, x, y, w, hit, alpha);
	if (w <= 26)
		return;
	g.fillStyle = colors.text;
	const change = file.base && !text ? changeOf(t, n)[2] : 0, note = abs(change) >= 0.0005 && w > 90 ? signed(change) : '';
	g.fillText(fit(g, text || nameOf(t, n), w - 8 - (note && 46)), x + 4, y + ROW / 2);
	if (note)
		g.fillText(note, x + w - 48, y + ROW / 2);
}

/* What colors alone do not show: kinds, hits, and the selection. */
function mark(g, t, n, x, y, w, hit, alpha) {
	const kind = kindOf(t, n);
	if (dark && w < 4) {	/* dark frames on dark ground have a light edge */
		g.globalAlpha *= 0.3;
		g.fillStyle = colors.text;
		g.fillRect(x, y, min(w, 1), ROW - 1);
		g.globalAlpha = alpha;
	}
	if ((kind === UNKNOWN || kind === 4) && w > 8) {
		const line = y + (kind === 4 ? 0.5 : ROW - 2.5);
		g.strokeStyle = colors.text;
		g.setLineDash(kind === 4 ? [2, 2] : [1, 5]);
		g.beginPath();
		g.moveTo(x, line);
		g.lineTo(x + w - 1, line);
		g.stroke();
		g.setLineDash([]);
	}
	if (hit || t === tree && n === chosen) {
		g.strokeStyle = hit ? colors.mark : colors.text;
		g.lineWidth = 2;
		g.strokeRect(x + 1, y + 1, max(w - 3, 1), ROW - 3);
		g.lineWidth = 1;
	}
}

function boxAt(event) {
	const place = $('graph').getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
	return boxes.find(([, bx, by, w]) => x >= bx && x < bx + w && y >= by && y < by + ROW);
}

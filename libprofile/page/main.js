/* What is shown, and what the user does. */
const VIEWS = ['flame', 'icicle', 'callers', 'sandwich', 'time', 'table'], WIDTHS = ['after', 'before', 'larger'];
let base, tree, sandwich = [], focus = 0, chosen = 0, past = [];
let view = 'flame', byName = false, group, width = 'after', selected = -1;
/* What is measured: [text, event, column, waits that are hidden: 0, 1]. */
let measures, measured = 0, measure = 0, hiddenWaits;
let place;	/* the view and the zoom of the entry in the browser's history; undefined: not known */

/* Makes the trees anew from the file: of a range of time, with groups or without. */
function rebuild() {
	arrange(whole);
	base = group === 'processes' ? byProcess() : range ? arrange(inRange()) :
		hiddenWaits >= 0 ? arrange(onlyShown()) : whole;
	if (group === 'none')
		base = ungroup(base);
	focus = chosen = 0;
	past = [];
	chooseTree();
}

/* The tree of the view. */
function chooseTree() {
	if (view === 'sandwich')
		sandwich = around(base, selected);
	tree = view === 'callers' ? invert(base) : view === 'sandwich' ? sandwich[1] : base;
	count();
}

function show() {
	const began = performance.now();
	showButtons();
	$('list').hidden = view !== 'table';
	$('graph').hidden = view === 'table';
	$('heat').hidden = view !== 'time';
	$('main').dataset.view = view;
	$('status').textContent = (range ? `${duration(range[0] * 1000)} to ${duration(range[1] * 1000)} of the time  —  ` : '') +
		describe(tree, chosen, false);
	if (view === 'table')
		drawTable();
	else if (view === 'time')
		drawTime();
	else
		draw();
	keepHash();
	document.documentElement.dataset.draw = round(performance.now() - began);
}

function showButtons() {
	for (const id of VIEWS)
		$(id).setAttribute('aria-pressed', view === id);
	$('time').hidden = !threads.length;
	$('measures').hidden = measures.length < 2;
	$('measure').selectedIndex = measured;
	$('order').textContent = 'Order: ' + (byName ? 'name' : 'weight');
	$('group').hidden = groups.length < 2;
	$('group').textContent = 'Groups: ' + group;
	$('color').hidden = !!file.base;
	$('color').textContent = 'Colors: ' + coloring;
	$('width').hidden = !file.base;
	$('width').textContent = 'Width: ' + width;
	$('theme').textContent = dark ? 'Light (D)' : 'Dark (D)';
}

function keepHash() {
	const hash = new URLSearchParams(), functionOf = f => file.functions[f][0];
	const set = (key, value) => { if (value) hash.set(key, value); };
	set('v', view === (file.view || 'flame') ? '' : view);
	set('f', view === 'sandwich' && functionOf(selected));
	set('r', range && range.join('-'));
	set('z', focus && path(tree, focus).join(';'));
	set('q', query);
	set('d', theme);
	set('o', byName && 'name');
	set('g', group !== groups[0] && group);
	set('m', measured && measures[measured][0]);
	set('w', width === 'after' ? '' : width);
	set('k', coloring === 'kind' ? '' : coloring);
	const here = ['v', 'f', 'r', 'z'].map(key => hash.get(key)).join();
	const keep = [undefined, here].includes(place) ? 'replaceState' : 'pushState';
	place = here;
	try { history[keep](null, '', '#' + hash); } catch {}	/* file: in some browsers */
}

/* The function with the most of its own: where a sandwich starts. */
function heaviest() {
	const rows = sums(base);
	return rows.sort((a, b) => b[1] - a[1] || a[0] - b[0]).length ? rows[0][0] : base.func[0];
}

function setView(next) {
	const at = tree.func[chosen], isFunction = file.functions[at][2] < THREAD;
	if (next === 'sandwich')
		selected = isFunction && chosen ? at : selected >= 0 ? selected : heaviest();
	if (next === 'time' && !threads.length)
		return;
	const keepsTree = [view, next].every(v => ['flame', 'icicle', 'table', 'time'].includes(v));
	view = next;
	if (!keepsTree) {
		focus = chosen = 0;
		past = [];
		chooseTree();
	}
	count();
	show();
	$('main').scrollTop = view === 'flame' ? $('main').scrollHeight : 0;
}

function selectFunction(func) {
	if (view === 'sandwich')
		past.push(selected);
	const before = view === 'sandwich' ? past : [];
	selected = func;
	view = 'sandwich';
	focus = chosen = 0;
	past = before;
	chooseTree();
	show();
}

function zoom(n) {
	if (view === 'sandwich' || view === 'time')
		return;
	if (n !== focus)
		past.push(focus);
	focus = chosen = n;
	count();
	show();
}

function back() {
	if (!past.length)
		return;
	const last = past.pop();
	if (view === 'sandwich') {
		selected = last;
		chosen = 0;
		chooseTree();
	} else {
		focus = chosen = last;
		count();
	}
	show();
}

function reset() {
	const was = range;
	$('help').hidden = true;
	range = null;
	focus = chosen = 0;
	past = [];
	if (was)
		rebuild();
	find('');
}

/* Arrows: to the heaviest child, the parent, and those beside. */
function move(key) {
	const upward = view === 'flame' || view === 'sandwich' && tree === sandwich[0];
	const [deeper, back] = upward ? ['ArrowUp', 'ArrowDown'] : ['ArrowDown', 'ArrowUp'];
	const parent = tree.parent[chosen];
	let to = -1;
	if (view === 'sandwich' && key === 'ArrowUp' && tree === sandwich[1] && !chosen && sandwich[0].first[0] >= 0)
		[tree, to] = [sandwich[0], sandwich[0].first[0]];
	else if (view === 'sandwich' && key === 'ArrowDown' && tree === sandwich[0] && !parent)
		[tree, to] = [sandwich[1], 0];
	else if (key === deeper)
		to = tree.first[chosen];
	else if (key === back)
		to = parent;
	else if (key === 'ArrowRight')
		to = tree.next[chosen];
	else if (parent >= 0)
		for (let c = tree.first[parent]; c >= 0 && c !== chosen; c = tree.next[c])
			to = c;
	if (to >= 0)
		chosen = to;
	show();
}

/* Shows the trees made anew, as far as possible where they were. */
function again(change) {
	const names = path(tree, focus);
	change();
	rebuild();
	goTo(names);
	show();
}

function goTo(names) {
	for (const name of names) {
		let c = tree.first[focus];
		while (c >= 0 && nameOf(tree, c) !== name)
			c = tree.next[c];
		if (c < 0)
			break;
		focus = chosen = c;
	}
	count();
}

const next = (list, one) => list[(list.indexOf(one) + 1) % list.length];

/* Time or period, and samples, of each event; of time on and off the CPU also its parts. */
function listMeasures() {
	const many = file.events.length > 1;
	return file.events.flatMap(event => {
		const kinds = new Set(event.whole.waits.filter((wait, i) => event.whole.self[1][i]));
		return (event.has_periods ? [0, 1] : [1]).flatMap(column => {
			const text = column ? 'samples' : event.unit === 'ns' ? 'time' : 'period';
			return (kinds.size > 1 ? [['', -1], [' on CPU', 1], [' off CPU', 0]] : [['', -1]]).map(
				([part, hidden]) => [(many ? event.event + ': ' : '') + text + part, event, column, hidden]);
		});
	});
}

function chooseMeasure(i) {
	const event = measures[measured = i][1];
	[, , measure, hiddenWaits] = measures[i];
	heat = heaviestImages = null;
	Object.assign(file, { unit: event.unit, totals: event.whole.self.map(sum) });
	({ whole, threads } = event);
	/* sums are shares of the larger one */
	if (file.base && file.base.sums)
		file.totals = file.totals.map((all, k) => max(all, file.totals[(k + 2) % 4]));
	$('facts').textContent = event.facts + (file.base ? ` — before: ${file.base.title}, ${file.base.facts}` : '');
}

function switchMeasure(i) {
	again(() => {
		chooseMeasure(i);
		chooseColors();
	});
}

const keys = {
	f: () => setView('flame'), i: () => setView('icicle'), c: () => setView('callers'), t: () => setView('table'),
	s: () => setView('sandwich'), h: () => setView('time'),
	m: () => switchMeasure((measured + 1) % measures.length),
	o: () => again(() => { byName = !byName; }),
	g: () => again(() => { group = next(groups, group); }),
	w: () => file.base && again(() => { width = next(WIDTHS, width); }),
	k: () => { if (!file.base) { coloring = next(COLORINGS, coloring); chooseColors(); show(); } },
	'?': () => { $('help').hidden = !$('help').hidden; },
	d: () => { theme = dark ? 'light' : 'dark'; chooseColors(); show(); },
	n: () => nextMatch(1), N: () => nextMatch(-1),
	Escape: reset, Backspace: back, '/': () => $('find').focus(),
	Enter: () => view === 'sandwich' ? clickBox(chosen, tree) : zoom(chosen),
	y: () => navigator.clipboard && navigator.clipboard.writeText(path(tree, chosen, folded).join(';') + ' ' + tree.total[chosen]),
};

function onKey(event) {
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.target === $('find') || event.target === $('measure')) {
		if (event.key === 'Escape')
			event.target.blur();
		return;
	}
	if (event.target.closest('button, tr') && event.key === 'Enter')
		return;
	const arrow = event.key.startsWith('Arrow');
	if (arrow && event.target === $('heat') && moveHeat(event))
		return event.preventDefault();
	const moves = arrow && event.target === $('graph') && view !== 'time';
	if (!moves && !keys[event.key])
		return;
	event.preventDefault();
	if (moves)
		move(event.key);
	else
		keys[event.key]();
}

/* Zooms; in a sandwich the function becomes the one in the middle; in the chart it is selected. */
function clickBox(n, t) {
	/* narrow frames: a zoom to their caller makes them wider, and the table has them all */
	if (n < 0) {
		~n === focus ? setView('table') : zoom(~n);
	} else if (view === 'sandwich') {
		if (kindOf(t, n) < THREAD && t.func[n] !== selected)
			selectFunction(t.func[n]);
	} else if (view === 'time') {
		chosen = n;
		show();
	} else {
		zoom(n);
	}
}

function showTip(event) {
	const tip = $('tip'), box = boxAt(event);
	tip.hidden = !box;
	if (!box)
		return;
	tip.textContent = box[5] || describe(box[4], box[0], true);
	tip.style.left = min(event.clientX + 12, max(0, innerWidth - tip.offsetWidth - 8)) + 'px';
	tip.style.top = (event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16) + 'px';
}

function listenToHeat() {
	let from = -1;
	$('heat').onpointerdown = event => {
		from = cellAt(event);
		$('heat').setPointerCapture(event.pointerId);
	};
	$('heat').onpointermove = event => {
		if (from < 0)
			return;
		const to = cellAt(event);
		range = [min(from, to) * heat.row, (max(from, to) + 1) * heat.row];
		drawHeat();
	};
	$('heat').onpointerup = event => {
		if (from >= 0)
			setCells(from, cellAt(event));
		from = -1;
	};
}

function listen() {
	const graph = $('graph');
	graph.onclick = event => { const box = boxAt(event); if (box) clickBox(box[0], box[4]); };
	graph.onmousemove = showTip;
	graph.onmouseleave = () => { $('tip').hidden = true; };
	$('find').oninput = event => find(event.target.value);
	for (const id of VIEWS)
		$(id).onclick = () => setView(id);
	$('measure').onchange = event => {
		switchMeasure(event.target.selectedIndex);
		event.target.blur();
	};
	for (const [id, key] of Object.entries({ order: 'o', group: 'g', color: 'k', width: 'w', theme: 'd', reset: 'Escape', keys: '?' }))
		$(id).onclick = keys[key];
	listenToHeat();
	addEventListener('keydown', onKey);
	addEventListener('resize', show);
	addEventListener('popstate', returnToPlace);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { chooseColors(); show(); });
}

/* What the link says: the part after #. */
function follow(wanted) {
	const at = file.functions.findIndex(f => f[0] === wanted.get('f') && f[2] < THREAD);
	if (at >= 0)
		selected = at;
	const first = wanted.get('v') || file.view || 'flame';
	if (VIEWS.includes(first) && (first !== view || first === 'sandwich'))
		setView(first);
	goTo((wanted.get('z') || '').split(';').filter(part => part));
	place = undefined;
	find(wanted.get('q') || '');
}

function readRange(wanted) {
	const times = /^([\d.]+)-([\d.]+)$/.exec(wanted.get('r') || '');
	range = times && threads.length ? times.slice(1).map(Number) : null;
}

/* What the browser's Back and Forward do. */
function returnToPlace() {
	const wanted = new URLSearchParams(location.hash.slice(1)), before = String(range);
	readRange(wanted);
	place = undefined;
	focus = chosen = 0;
	past = [];
	if (String(range) !== before)
		rebuild();
	follow(wanted);
}

function readLink(wanted) {
	readRange(wanted);
	measures = listMeasures();
	$('measure').append(...measures.map(([text]) => new Option(text)));
	chooseMeasure(max(0, measures.findIndex(([text]) => text === wanted.get('m'))));
	theme = wanted.get('d') || file.theme || '';
	byName = wanted.get('o') === 'name';
	if (!threads.length)
		groups = groups.filter(name => name !== 'processes');
	group = groups.includes(wanted.get('g')) ? wanted.get('g') : groups[0];
	width = WIDTHS.includes(wanted.get('w')) ? wanted.get('w') : 'after';
	coloring = COLORINGS.includes(wanted.get('k')) ? wanted.get('k') : 'kind';
}

async function start() {
	if (!window.DecompressionStream) {
		$('status').textContent = 'This browser is older than 2023: preport -f folded writes the same for other viewers.';
		return;
	}
	const began = performance.now(), wanted = new URLSearchParams(location.hash.slice(1));
	await unpack();
	readLink(wanted);
	document.title = file.title + ' — flame graph';
	$('title').textContent = file.title;
	rebuild();
	chooseColors();
	listen();
	follow(wanted);
	if (view === 'flame')
		$('main').scrollTop = $('main').scrollHeight;
	Object.assign(document.documentElement.dataset, { ready: 1, nodes: whole.count, total: whole.total[0],
		open: round(performance.now() - began) });
}

start().catch(error => { $('status').textContent = 'This page can\'t be shown: ' + error; });

/* Zoom and search in the picture of a flame graph that is opened by itself. */
(() => {
const WIDTH = 1180, MARGIN = 10, LETTER = 7, NEAR = 0.02, HIT = '#ff6ac6';
const svg = document.documentElement, svgText = (x, y) => {
	const text = document.createElementNS(svg.namespaceURI, 'text');
	text.setAttribute('x', x);
	text.setAttribute('y', y);
	return text;
};
/* Frames are groups, in preorder; the runs of narrow ones are rectangles. */
const frames = [...svg.querySelectorAll('g, rect[fill="#999999"]')].map(it => {
	const rect = it.querySelector('rect') || it, title = it.querySelector('title');
	const [x, y, width] = ['x', 'y', 'width'].map(name => +rect.getAttribute(name));
	return { it, rect, x, y, width, end: x + width, color: rect.getAttribute('fill'),
		text: it.querySelector('text'), name: title ? title.textContent.replace(/ \([^(]*%\)$/, '') : '' };
});
const root = frames[0], found = svgText(WIDTH - 300, 20);
let query = '';

function label(frame, x, width) {
	const room = Math.floor(width / LETTER);
	if (!frame.text && room > 3 && frame.name)
		frame.text = frame.it.appendChild(svgText(0, frame.y + 12));
	if (!frame.text)
		return;
	frame.text.setAttribute('x', x + 2);
	frame.text.textContent = room <= 3 ? '' : frame.name.length < room ? frame.name : frame.name.slice(0, room - 1) + '…';
}

/* What calls the frame has the whole width, too, and is faded. */
function zoom(to) {
	for (const frame of frames) {
		const isAbove = (frame.y - to.y) * (root.y - to.y) > 0 && frame.x < to.x + NEAR && frame.end > to.end - NEAR;
		const isShown = isAbove || frame.x > to.x - NEAR && frame.end < to.end + NEAR;
		const x = isAbove ? MARGIN : MARGIN + (frame.x - to.x) * WIDTH / to.width;
		const width = isAbove ? WIDTH : frame.width * WIDTH / to.width;
		frame.it.style.display = isShown ? '' : 'none';
		frame.it.style.opacity = isAbove ? 0.5 : '';
		frame.rect.setAttribute('x', x);
		frame.rect.setAttribute('width', width);
		label(frame, x, width);
	}
}

function matcher() {
	const regex = /^\/(.+)\/$/.exec(query);
	if (!regex)
		return name => name.toLowerCase().includes(query.toLowerCase());
	const it = new RegExp(regex[1]);
	return name => it.test(name);
}

/* A frame below one that matches is not counted again. */
function search(text) {
	let sum = 0, end = 0, match = () => false;
	query = text;
	try {
		match = matcher();
	} catch {
		query = '';
	}
	for (const frame of frames) {
		const hit = query && frame.name && match(frame.name);
		frame.rect.setAttribute('fill', hit ? HIT : frame.color);
		if (hit && frame.x >= end - NEAR) {
			sum += frame.width;
			end = frame.end;
		}
	}
	found.textContent = query ? (100 * sum / root.width).toFixed(2) + ' % matched' : text && 'not a valid expression';
}

function ask() {
	const text = prompt('Search for text or a /regex/', query);
	if (text !== null)
		search(text);
}

function reset() {
	zoom(root);
	search('');
}

for (const [x, name, act] of [[WIDTH - 170, 'Search (/)', ask], [WIDTH - 70, 'All (Esc)', reset]]) {
	const text = svg.appendChild(svgText(x, 20));
	text.textContent = name;
	text.onclick = act;
	text.style.cursor = 'pointer';
}
svg.append(found);
for (const frame of frames) {
	frame.it.onclick = () => zoom(frame);
	frame.it.style.cursor = 'pointer';
}
addEventListener('keydown', event => {
	if (event.key === '/')
		event.preventDefault();
	if (event.key === '/')
		ask();
	else if (event.key === 'Escape')
		reset();
});
})();

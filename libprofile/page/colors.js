/* Hue is the kind, or the image; lightness varies a little by the name. In a difference red is more, blue less. */
const LIGHT = ['#ffce9d', '#69cfff', '#6aaa71', '#ac88b9', '#69cfff', '#b7b7b7', '#b7b7b7', '#b7b7b7', '#d4edff', '#b7b7b7'];
const DARK = ['#a35009', '#00397b', '#2c3200', '#4e0042', '#00397b', '#555555', '#555555', '#555555', '#4762ae', '#555555'];
const CHANGES = { light: ['#e4e1da', '#ff8a75', '#7db4ff'], dark: ['#3c3e44', '#a8261a', '#1d57b0'] };
const changes = () => CHANGES[dark ? 'dark' : 'light'];
const COLORINGS = ['kind', 'image', 'self'];
/* of the heaviest images */
const IMAGE_KINDS = [1, 0, 2, 3, WAIT];
let dark = false, theme = '', coloring = 'kind', shades = [], colors = {}, heaviestImages = null;

const parts = color => [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));

function mix(from, to, by) {
	const a = parts(from), b = parts(to);
	return `rgb(${a.map((c, i) => round(c + (b[i] - c) * by))})`;
}

function shade(color, by) {
	return `rgb(${parts(color).map(c => max(0, min(255, c + by)))})`;
}

function chooseColors() {
	dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	const palette = dark ? DARK : LIGHT, style = getComputedStyle(document.documentElement);
	for (const name of ['ground', 'text', 'dim', 'line', 'mark', 'heat'])
		colors[name] = style.getPropertyValue('--' + name).trim();
	shades = file.functions.map(([name, image, kind]) => {
		let hash = 0;
		for (let i = 0; i < name.length; i++)
			hash = hash * 31 + name.charCodeAt(i) | 0;
		return shade(palette[coloring === 'image' ? kindOfImage(image, kind) : kind], (hash >>> 3) % 3 * 6 - 6);
	});
	$('legend').replaceChildren(...legend(palette).map(([color, text]) => {
		const box = element('span'), i = element('i');
		i.style.background = color;
		box.append(i, text);
		return box;
	}));
}

function legend(palette) {
	if (file.base) {
		const [same, more, less] = changes();
		return [[more, 'more than before'], [less, 'less'], [same, 'the same']];
	}
	if (coloring === 'self') {
		const [same, more] = changes();
		return [[more, '5 % of all by itself'], [same, 'none by itself']];
	}
	if (coloring === 'image')
		return [...imagesByWeight().map((image, i) => [palette[IMAGE_KINDS[i]], shortImage(image)]), [palette[UNKNOWN], 'others']];
	return [0, 1, 2, 3, UNKNOWN, WAIT].filter(k => whole.func.some(f => file.functions[f][2] === k)).map(k => [palette[k], KINDS[k]]);
}

/* The images with the most of their own time, as many as there are colors. */
function imagesByWeight() {
	if (heaviestImages)
		return heaviestImages;
	const sums = new Map();
	for (let i = 0; i < whole.count; i++) {
		const [, image, kind] = file.functions[whole.func[i]];
		if (kind < UNKNOWN && whole.self[0][i])
			sums.set(image, (sums.get(image) || 0) + whole.self[0][i]);
	}
	heaviestImages = [...sums].sort((a, b) => b[1] - a[1]).slice(0, IMAGE_KINDS.length).map(([image]) => image);
	return heaviestImages;
}

/* The kind whose color an image has. */
function kindOfImage(image, kind) {
	const at = kind < UNKNOWN ? imagesByWeight().indexOf(image) : -1;
	return at < 0 ? UNKNOWN : IMAGE_KINDS[at];
}

const bySquareRoot = part => sqrt(min(1, part / 0.05));

/* 5 percent points are the full color. */
function colorOf(t, n) {
	if (!file.base && coloring === 'self') {
		const [same, more] = changes();
		return mix(same, more, bySquareRoot(t.own[n] / (base.total[0] || 1)));
	}
	if (!file.base)
		return shades[t.func[n]];
	const change = changeOf(t, n)[2], [same, more, less] = changes();
	return mix(same, change > 0 ? more : less, bySquareRoot(abs(change)));
}

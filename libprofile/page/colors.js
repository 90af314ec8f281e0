/* Hue is the kind; lightness varies a little by the name. In a difference red is more, blue less. */
const LIGHT = ['#ffce9d', '#69cfff', '#6aaa71', '#ac88b9', '#69cfff', '#b7b7b7', '#b7b7b7', '#b7b7b7', '#b7b7b7'];
const DARK = ['#a35009', '#003a7b', '#2c3200', '#4e0042', '#003a7b', '#555555', '#555555', '#555555', '#555555'];
const CHANGES = { light: ['#e4e1da', '#ff8a75', '#7db4ff'], dark: ['#3c3e44', '#a8261a', '#1d57b0'] };
let dark = false, theme = '', shades = [], colors = {};

const parts = color => [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));

function mix(from, to, by) {
	const a = parts(from), b = parts(to);
	return `rgb(${a.map((c, i) => Math.round(c + (b[i] - c) * by))})`;
}

function shade(color, by) {
	return `rgb(${parts(color).map(c => Math.max(0, Math.min(255, c + by)))})`;
}

function chooseColors() {
	dark = (theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	const palette = dark ? DARK : LIGHT, style = getComputedStyle(document.documentElement);
	for (const name of ['ground', 'text', 'dim', 'line', 'mark', 'heat'])
		colors[name] = style.getPropertyValue('--' + name).trim();
	shades = file.functions.map(([name, , kind]) => {
		let hash = 0;
		for (let i = 0; i < name.length; i++)
			hash = hash * 31 + name.charCodeAt(i) | 0;
		return shade(palette[kind], (hash >>> 3) % 3 * 6 - 6);
	});
	$('legend').replaceChildren(...legend(palette).map(([color, text]) => {
		const box = document.createElement('span'), i = document.createElement('i');
		i.style.background = color;
		box.append(i, text);
		return box;
	}));
}

function legend(palette) {
	if (file.base) {
		const [same, more, less] = CHANGES[dark ? 'dark' : 'light'];
		return [[more, 'more than before'], [less, 'less'], [same, 'the same']];
	}
	return [0, 1, 2, 3, 5].filter(k => file.functions.some(f => f[2] === k)).map(k => [palette[k], KINDS[k]]);
}

/* 5 percent points are the full color. */
function colorOf(t, n) {
	if (!file.base)
		return shades[t.func[n]];
	const change = changeOf(t, n)[2], [same, more, less] = CHANGES[dark ? 'dark' : 'light'];
	return mix(same, change > 0 ? more : less, Math.sqrt(Math.min(1, Math.abs(change) / 0.05)));
}

/* The file: a JSON text, and of each event the nodes in preorder and the samples of each thread. */
const $ = id => document.getElementById(id), element = name => document.createElement(name);
const { abs, ceil, floor, max, min, round, sqrt } = Math;
const KINDS = ['kernel', 'program', 'library', 'JIT', 'inlined', 'unknown', 'thread', 'note', 'off-CPU', 'event'];
const UNKNOWN = 5, THREAD = 6, WAIT = 8;
let file, whole, threads = [], groups;
/* By pid: the function that is its frame. */
const processes = {};

const kindOf = (t, n) => file.functions[t.func[n]][2];

async function unpack() {
	const text = atob($('data').textContent.trim()), packed = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
	const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
	const size = new DataView(bytes.buffer).getUint32(0, true);
	file = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
	groups = file.functions.some(f => f[2] === THREAD) ? ['threads', 'processes', 'none'] : ['none', 'processes'];
	const numbers = varints(bytes, 4 + size);
	for (const event of file.events) {
		whole = event.whole = readNodes(numbers, event.nodes);
		markWaits(whole);
		event.threads = event.threads.map(thread => readThread(numbers, thread));
		event.threads.forEach(nameProcess);
	}
}

/* Processes have the names of their first threads. */
function nameProcess({ name, pid, tid }) {
	if (!processes[pid])
		processes[pid] = file.functions.push(['', '', THREAD, '']) - 1;
	const process = file.functions[processes[pid]];
	if (tid === pid || !process[0])
		process[0] = name + ' ' + pid;
}

function varints(bytes, at) {
	return () => {
		let value = 0, scale = 1, byte;
		do {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	};
}

/* Columns of values: weight and samples; in a difference also those before. */
function newTree(count) {
	return { count, parent: new Int32Array(count), func: new Int32Array(count),
		self: Array.from({ length: file.base ? 4 : 2 }, () => new Float64Array(count)) };
}

/* Each node: levels to go up from the last one, function, values. */
function readNodes(number, count) {
	const t = newTree(count);
	let last = -1;
	for (let i = 0; i < t.count; i++) {
		for (let up = number(); up; up--)
			last = t.parent[last];
		t.parent[i] = last;
		t.func[i] = number();
		for (const column of t.self)
			column[i] = number();
		last = i;
	}
	return t;
}

/* Whether a node is in a wait: its weight is the time before it, not of one moment. */
function markWaits(t) {
	t.waits = new Uint8Array(t.count);
	for (let i = 1; i < t.count; i++)
		t.waits[i] = t.waits[t.parent[i]] || kindOf(t, i) === WAIT;
}

/* Each sample: us since the one before, node, weight. */
function readThread(number, [name, pid, tid, count]) {
	const column = () => new Float64Array(count);
	const thread = { name, pid, tid, count, total: 0, times: column(), starts: column(), nodes: column(), weights: column() };
	for (let i = 0, time = 0; i < count; i++) {
		const before = time, node = thread.nodes[i] = (time += number(), number());
		thread.total += thread.weights[i] = number();
		thread.times[i] = time;
		thread.starts[i] = whole.waits[node] ? max(before, time - thread.weights[i] / 1000) : time;
	}
	return thread;
}

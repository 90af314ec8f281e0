/* The file: a JSON text, the nodes in preorder, and the samples of each thread. */
const $ = id => document.getElementById(id);
const KINDS = ['kernel', 'program', 'library', 'JIT', 'inlined', 'unknown', 'thread', 'note', 'event'];
const THREAD = 6;
let file, whole, threads = [];

async function unpack() {
	const text = atob($('data').textContent.trim()), packed = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
	const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
	const size = new DataView(bytes.buffer).getUint32(0, true);
	file = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
	const numbers = varints(bytes, 4 + size);
	whole = readNodes(numbers);
	threads = file.threads.map(thread => readThread(numbers, thread));
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
function readNodes(number) {
	const t = newTree(file.nodes);
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

/* Each sample: us since the one before, node, weight. */
function readThread(number, [name, pid, tid, count]) {
	const thread = { name, pid, tid, count, total: 0, times: new Float64Array(count),
		nodes: new Int32Array(count), weights: new Float64Array(count) };
	for (let i = 0, time = 0; i < count; i++) {
		thread.times[i] = time += number();
		thread.nodes[i] = number();
		thread.total += thread.weights[i] = number();
	}
	return thread;
}

/* The table of functions; in a difference with the shares before and after. */
const TABLE_ROWS = 500;
let sortBy = 0;

const COLUMNS = {
	one: [['self', 1], ['total', 2], ['samples', 3]],
	two: [['before', 4], ['after', 1], ['change', 6], ['total before', 5], ['total after', 2], ['change', 7]],
};

function tableRows() {
	const rows = sums(base);
	if (!file.base)
		return [rows, row => [share(row[1], base.total[0]), share(row[2], base.total[0]), row[3].toLocaleString('en')]];
	const [all, allBefore] = [file.totals[measure] || 1, file.totals[measure + 2] || 1];
	for (const row of rows) {
		row[1] /= all;
		row[2] /= all;
		row[4] /= allBefore;
		row[5] /= allBefore;
		row.push(row[1] - row[4], row[2] - row[5]);
	}
	return [rows, row => COLUMNS.two.map(([title, k]) => title === 'change' ? signed(row[k]) : percent(row[k]))];
}

function drawTable() {
	const table = element('table'), head = table.createTHead().insertRow(), body = table.createTBody();
	const columns = file.base ? COLUMNS.two : COLUMNS.one, [rows, texts] = tableRows();
	const key = columns.some(([, k]) => k === sortBy) ? sortBy : file.base ? 6 : 1;
	for (const [title, k] of [...columns, ['function', 0], ['image', 0]]) {
		const cell = head.appendChild(element('th')), button = element('button');
		button.textContent = title + (k === key ? ' ▾' : '');
		cell.className = k ? 'number ' + title : title;
		if (k)
			button.onclick = () => { sortBy = k; drawTable(); };
		cell.append(k ? button : title);
		if (k === key)
			cell.setAttribute('aria-sort', 'descending');
	}
	const wanted = rows.filter(row => !matches || matches[row[0]]);
	wanted.sort((a, b) => abs(b[key]) - abs(a[key]) || b[2] - a[2] || a[0] - b[0]);
	for (const row of wanted.slice(0, TABLE_ROWS))
		addRow(body.insertRow(), row[0], texts(row));
	const note = element('p');
	note.textContent = wanted.length > TABLE_ROWS ? `${wanted.length - TABLE_ROWS} more functions: search to see them.` :
		wanted.length ? '' : 'No function matches.';
	$('list').replaceChildren(table, note);
}

function addRow(tr, func, texts) {
	const [name, image, kind] = file.functions[func], box = element('i');
	texts.forEach((text, i) => {
		const cell = tr.insertCell();
		cell.textContent = text;
		cell.className = 'number ' + (file.base ? COLUMNS.two : COLUMNS.one)[i][0];
	});
	box.style.background = shades[func];
	const cell = tr.insertCell();
	cell.className = 'name';
	cell.append(box, name);
	const last = tr.insertCell();
	last.className = 'image';
	last.textContent = kind === 0 ? '[k]' : shortImage(image);
	last.title = image;
	tr.tabIndex = 0;
	tr.title = 'callers and callees';
	tr.onclick = () => selectFunction(func);
	tr.onkeydown = event => {
		const beside = { ArrowDown: tr.nextSibling, ArrowUp: tr.previousSibling }[event.key];
		if (event.key === 'Enter')
			tr.onclick();
		if (beside) {
			event.preventDefault();
			beside.focus();
		}
	};
}

// Writes the options and plain answers of the Python client from the OpenAPI document; with --check, only checks
// whether they are up to date.
//
//   node scripts/python-client.mjs [--check]
import { fileURLToPath } from 'node:url';
import { readOpenApi, writeOrCheck } from './generated.mjs';

const PACKAGE = new URL('../clients/python/lattice_client/', import.meta.url);
const COLUMNS = 100;
/** A longer list of values is for its documentation, not for a type. */
const MOST_LITERALS = 10;

const openApi = readOpenApi();
const { schemas } = openApi.components;

/** Types of the options of a call. Every other parameter is an argument of its own. */
const OPTIONS = [
  { name: 'TileGrid', ...fieldsOf('TileGrid'), text: 'Tiles by their number.' },
  { name: 'TileSize', ...fieldsOf('TileSize'), text: 'Tiles by their size in pixels.' },
  {
    name: 'Region',
    ...fieldsOf('Region'),
    text: 'A part of the picture that is counted by itself, or a mask.',
  },
  {
    name: 'DetectOptions',
    ...fieldsOf('DetectRequest', 'image_path'),
    text: 'Options of a detection.',
  },
  {
    name: 'JobLabels',
    ...fieldsOf('JobPatch'),
    text: 'What people write on a job. None makes a label empty.',
  },
  {
    name: 'JobOptions',
    ...fieldsOf('JobSubmit', 'image_paths', 'upload'),
    text: 'Options of a job.',
  },
  {
    name: 'WatchBatch',
    ...fieldsOf(schemas.WatchCreate.properties.batch),
    text: 'When the new files of a watch become a job.',
  },
  {
    name: 'WatchOptions',
    ...fieldsOf('WatchCreate', 'name', 'paths'),
    text: 'Options of a watch and of its jobs.',
  },
  {
    name: 'WatchChanges',
    ...fieldsOf('WatchPatch'),
    over: 'WatchOptions',
    text: 'What a change of a watch may give.',
  },
  {
    name: 'CameraFindingChange',
    ...fieldsOf('CameraFindingPatch'),
    text: 'Which finding of which camera is silenced or dismissed.',
  },
  {
    name: 'JobFilter',
    ...queryOf('/v1/jobs', 'cursor', 'counts'),
    text: 'Which jobs are listed, and in which order.',
  },
  {
    name: 'Question',
    ...queryOf('/v1/jobs/{job_id}/summary'),
    text: 'What may be asked of the boxes that a job keeps, in place of its own question.',
  },
  {
    name: 'ResultQuery',
    ...queryOf('/v1/jobs/{job_id}/result', 'format'),
    over: 'Question',
    text: 'Which boxes of a result are asked for.',
  },
  {
    name: 'PictureQuery',
    ...renamed(queryOf('/v1/jobs/{job_id}/covered'), { class: 'only' }),
    over: 'Question',
    text: 'Which boxes pictures show, cover or cut out, and how.',
  },
  {
    name: 'ChangesQuery',
    ...queryOf('/v1/jobs/{job_id}/changes', 'with'),
    over: 'Question',
    text: 'What counts as a change between two jobs.',
  },
  {
    name: 'CountsQuery',
    ...queryOf('/v1/jobs/{job_id}/counts', 'format', 'by'),
    over: 'Question',
    text: 'How events are made, with `by="event"`.',
  },
  {
    name: 'CountsScope',
    ...renamed(queryOf('/v1/counts', 'format'), { from: 'since', to: 'until' }),
    over: 'Question',
    text: 'Whose images are counted, of which hours, and what is counted together.',
  },
  {
    name: 'PlacesScope',
    ...renamed(queryOf('/v1/places', 'format'), { from: 'since', to: 'until' }),
    over: 'Question',
    text: 'In whose images, of which hours, places are found, and which of them are asked for.',
  },
];

const ANSWERS = [
  {
    name: 'Problem',
    ...fieldsOf('Problem'),
    certain: 'code',
    text: 'Why an image or a job has no result.',
  },
  { name: 'FileFacts', ...fieldsOf('FileFacts'), text: 'The file that was read, as it was then.' },
  {
    name: 'JobAccepted',
    ...fieldsOf('JobRetried'),
    required: schemas.JobAccepted.required,
    text: "The job is on the service's disk.",
  },
  { name: 'JobFields', ...fieldsOf('JobStatus'), text: 'A job, and how far it is.' },
  { name: 'Dismissal', ...fieldsOf('Dismissal'), text: 'A place whose boxes are not counted.' },
  { name: 'View', ...fieldsOf('View'), text: 'Regions that the service stores by name.' },
  {
    name: 'Watch',
    ...fieldsOf('Watch'),
    text: 'Folders whose new files the service submits as they come.',
  },
  {
    name: 'Camera',
    ...fieldsOf('Camera'),
    text: 'A camera of a watch, and what is wrong with it.',
  },
  {
    name: 'AgreementCounts',
    ...fieldsOf('AgreementRow'),
    text: 'Boxes by what became of them from the first model to the second.',
  },
  { name: 'Model', ...fieldsOf('Model'), text: 'A model of the models folder.' },
];
const NAMED_OPTIONS = new Set(OPTIONS.map(({ name }) => name));

/** Fields of a schema, which is given by its name or by itself, but for those that are left out. */
function fieldsOf(schema, ...leftOut) {
  const found = resolved(typeof schema === 'string' ? schemas[schema] : schema);
  const fields = Object.entries(found.properties).filter(([name]) => !leftOut.includes(name));
  return { fields, required: found.required ?? [] };
}

function queryOf(path, ...leftOut) {
  const parameters = openApi.paths[path].get.parameters.filter(
    (each) => each.in === 'query' && !leftOut.includes(each.name),
  );
  return { fields: parameters.map(({ name, schema }) => [name, schema]), required: [] };
}

/** Fields whose names are words of Python have others there: see `_scope` of the client. */
function renamed({ fields, ...others }, names) {
  return { fields: fields.map(([name, schema]) => [names[name] ?? name, schema]), ...others };
}

/** The only schema that is no null. */
function resolved(schema) {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const one = others.length === 1 ? { ...others[0], description: schema.description } : schema;
  return one.$ref === undefined ? one : schemas[one.$ref.split('/').at(-1)];
}

const typesOf = ({ type }) => [type ?? []].flat();
const isNullable = (schema) =>
  typesOf(schema).includes('null') || schema.anyOf?.some(({ type }) => type === 'null') === true;
const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };

/** The annotation without None. `list`: what an array is in Python. */
function plainType(schema, list) {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined)
    return list === 'Sequence' && NAMED_OPTIONS.has(name) ? name : plainType(schemas[name], list);
  if (schema.enum !== undefined) {
    const values = schema.enum.filter((value) => value !== null);
    if (values.length > MOST_LITERALS) return 'str';
    return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
  }
  if (schema.anyOf !== undefined) {
    const types = schema.anyOf
      .filter(({ type }) => type !== 'null')
      .map((each) => plainType(each, list));
    return [...new Set(types)].join(' | ');
  }
  // A list in one text: the client takes a sequence of its values too.
  if (list === 'Sequence' && schema.pattern?.includes(')(?:,') === true)
    return 'str | Sequence[str]';
  const [type] = typesOf(schema).filter((each) => each !== 'null');
  if (type === 'array') {
    if (schema.prefixItems !== undefined) {
      return `tuple[${schema.prefixItems.map((each) => plainType(each, list)).join(', ')}]`;
    }
    const items = plainType(schema.items, list);
    return list === 'tuple' ? `tuple[${items}, ...]` : `Sequence[${items}]`;
  }
  if (type === 'object') {
    const values = schema.additionalProperties;
    const isPlain = typeof values === 'object' && Object.keys(values).length > 0;
    return `Mapping[str, ${isPlain ? plainType(values, list) : 'Any'}]`;
  }
  return SCALARS[type] ?? 'Any';
}

function annotation(schema, list) {
  const type = plainType(schema, list);
  return isNullable(schema) ? `${type} | None` : type;
}

/** The description in comment lines, cut between words. */
function comment(schema) {
  const text = schema.description ?? resolved(schema).description ?? '';
  const lines = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length === 0 || longer.length > COLUMNS - '    #:'.length) lines.push(` ${word}`);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((line) => `    #:${line}\n`).join('');
}

function typedDict(name, base, text, fields) {
  const lines = fields.map(
    ([field, schema]) => `${comment(schema)}    ${field}: ${annotation(schema, 'Sequence')}\n`,
  );
  return `class ${name}(${base}):\n    """${text}"""\n\n${lines.join('')}`;
}

/** A class over that of the optional fields: Python 3.10 knows no other way. All options of calls have defaults. */
function optionClass({ name, fields, required, over, text }) {
  if (name.endsWith('Options')) return typedDict(name, 'TypedDict, total=False', text, fields);
  if (over !== undefined) {
    const base = OPTIONS.find((each) => each.name === over);
    const own = fields.filter(([field]) => base.fields.every(([other]) => other !== field));
    return typedDict(name, `${over}, total=False`, text, own);
  }
  const [needed, others] = [true, false].map((is) =>
    fields.filter(([field]) => required.includes(field) === is),
  );
  if (needed.length === 0) return typedDict(name, 'TypedDict, total=False', text, others);
  const optional = `_${name}Fields`;
  return [
    typedDict(optional, 'TypedDict, total=False', `What may be left out of \`${name}\`.`, others),
    typedDict(name, optional, text, needed),
  ].join('\n\n');
}

/** Value of a field that a service of an earlier release does not give. */
function absent(schema) {
  if (isNullable(schema)) return 'None';
  const { type } = resolved(schema);
  const zero = { string: '""', integer: '0', number: '0.0', boolean: 'False', array: '()' };
  return (
    zero[typesOf({ type })[0]] ??
    (schema.anyOf === undefined ? 'field(default_factory=dict)' : 'False')
  );
}

/** `isCertain`: a service of every release gives it. */
function answerField([name, schema], isRequired, isCertain) {
  const start = `${comment(schema)}    ${name}:`;
  if (schema.anyOf?.some(({ $ref }) => $ref?.endsWith('/Problem')) === true) {
    return `${start} Problem | None = field(default=None, metadata=read_as(Problem))\n`;
  }
  const type = annotation(schema, 'tuple');
  if (isCertain || (type.startsWith('Literal') && !isNullable(schema))) return `${start} ${type}\n`;
  if (isRequired) return `${start} ${type} = ${absent(schema)}\n`;
  return `${start} ${plainType(schema, 'tuple')} | None = None\n`;
}

const answerClass = ({ name, fields, required, certain = fields[0][0], text }) =>
  `@dataclass(frozen=True, kw_only=True)\nclass ${name}(Record):\n    """${text}"""\n\n` +
  fields.map((each) => answerField(each, required.includes(each[0]), each[0] === certain)).join('');

/** Only those of `names` that the text uses. */
const imported = (module, names, text) =>
  `from ${module} import ${names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).join(', ')}`;

const GENERATED = 'Generated from the OpenAPI document by scripts/python-client.mjs.';

function optionsModule() {
  const classes = OPTIONS.map(optionClass).join('\n\n');
  return `"""Options of calls, named as in the HTTP API. What is left out has the service's default.

${GENERATED}
"""

from __future__ import annotations

${imported('collections.abc', ['Mapping', 'Sequence'], classes)}
${imported('typing', ['Any', 'Literal', 'TypedDict'], classes)}


${classes}`;
}

function answersModule() {
  const classes = ANSWERS.map(answerClass).join('\n\n');
  return `"""Answers of the service that are given as they come.

${GENERATED}
"""

from __future__ import annotations

${imported('collections.abc', ['Mapping'], classes)}
${imported('dataclasses', ['dataclass', 'field'], classes)}
${imported('typing', ['Any', 'Literal'], classes)}

from .record import Record, read_as


${classes}`;
}

const FILES = { 'options.py': optionsModule(), 'answers.py': answersModule() };
for (const [name, text] of Object.entries(FILES)) {
  writeOrCheck(fileURLToPath(new URL(name, PACKAGE)), text);
}

// Writes the tables of docs/api.md from the OpenAPI document; with --check, only checks whether they are up to date.
//
//   node scripts/api-page.mjs [--check]
import { fileURLToPath } from 'node:url';
import { readOpenApi, table, writeTables } from './generated.mjs';

const PAGE = fileURLToPath(new URL('../docs/api.md', import.meta.url));
const ASSETS = /\/\{asset\}$/;

const openApi = readOpenApi();

function routes() {
  const rows = Object.entries(openApi.paths)
    .filter(([path]) => !ASSETS.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary, responses }]) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
        Object.keys(responses).join(' '),
      ]),
    );
  return table(['route', 'what', 'status'], rows);
}

/** The fields of a JSON body. */
function options(schemaName) {
  const { properties, required } = openApi.components.schemas[schemaName];
  const rows = Object.entries(properties).map(([name, property]) => [
    `\`${name}\``,
    typeOf(property),
    required.includes(name) ? '(required)' : (property.default ?? ''),
    descriptionOf(property),
  ]);
  return table(['field', 'type', 'default', 'meaning'], rows);
}

function resolved(property) {
  const [reference] = [property, ...(property.anyOf ?? [])].flatMap((each) => each.$ref ?? []);
  return reference === undefined
    ? property
    : openApi.components.schemas[reference.split('/').at(-1)];
}

function descriptionOf(property) {
  const { enum: values = [], description } = resolved(property);
  const listed = values.filter((value) => value !== null).map((value) => `\`${value}\``);
  return [listed.join(', '), property.description ?? description].filter(Boolean).join(': ');
}

function typesOf(property) {
  const { type, anyOf = [] } = property.$ref === undefined ? property : resolved(property);
  return [type ?? [], anyOf.map(typesOf)].flat(3).filter((each) => each !== 'null');
}

function typeOf(property) {
  const { minimum, maximum, items } = resolved(property);
  const name = [...new Set(typesOf(property))].join(' or ');
  if (name === 'array') return `array of ${resolved(items).type}`;
  if (minimum === undefined) return name;
  return maximum === undefined
    ? `${name}, ${minimum} or more`
    : `${name}, ${minimum} to ${maximum}`;
}

await writeTables(PAGE, {
  routes: routes(),
  'options of POST /v1/inference/detect': options('DetectRequest'),
  'options of POST /v1/jobs/submit': options('JobSubmit'),
});

// The exported types of a file, written out: zod schemas, `Omit` and `Pick` are resolved.
import ts from 'typescript';

const HEADER = '/** Shapes of requests and answers, named as in the OpenAPI document. */\n\n';
const NAME = /^[A-Za-z_$][\w$]*$/;
const KEYWORDS = ['String', 'Number', 'Boolean', 'Null', 'Undefined', 'Unknown', 'Never'];

/** Text of a declaration file. Throws for a kind of type that it cannot write. */
export function plainTypes(file, root) {
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const types = exportedTypes(checker, program.getSourceFile(file));
  const names = new Map();
  for (const [name, type] of types) if (!names.has(type)) names.set(type, name);
  const write = writer(checker, names);
  const lines = types.map(([name, type]) => {
    const first = names.get(type);
    return `export type ${name} = ${first === name ? write.expanded(type, '') : first};\n`;
  });
  return HEADER + lines.join('\n');
}

function exportedTypes(checker, source) {
  return checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map((symbol) => {
    const isAlias = symbol.flags & ts.SymbolFlags.Alias;
    const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
    return [symbol.name, checker.getDeclaredTypeOfSymbol(target)];
  });
}

function writer(checker, names) {
  const written = (type, indent) => names.get(type) ?? expanded(type, indent);

  function expanded(type, indent) {
    if (type.isStringLiteral()) return `'${type.value}'`;
    if (type.isNumberLiteral()) return String(type.value);
    if (type.flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(type);
    const keyword = KEYWORDS.find((name) => type.flags & ts.TypeFlags[name]);
    if (keyword !== undefined) return keyword.toLowerCase();
    if (type.isUnion()) return union(type, indent);
    if (type.isIntersection() || type.flags & ts.TypeFlags.Object) return object(type, indent);
    throw new Error(`A type cannot be written out: ${checker.typeToString(type)}`);
  }

  function union(type, indent) {
    const parts = type.types.map((each) => written(each, indent));
    const isBoolean = parts.includes('true') && parts.includes('false');
    const texts = isBoolean
      ? ['boolean', ...parts.filter((text) => text !== 'true' && text !== 'false')]
      : parts;
    const rank = (text) => ['null', 'undefined'].indexOf(text);
    return [...new Set(texts)].sort((one, other) => rank(one) - rank(other)).join(' | ');
  }

  function object(type, indent) {
    if (checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type).map((each) => written(each, indent));
      return `[${items.join(', ')}]`;
    }
    if (checker.isArrayType(type)) {
      const readonly = type.symbol.name === 'ReadonlyArray' ? 'Readonly' : '';
      return `${readonly}Array<${written(checker.getTypeArguments(type)[0], indent)}>`;
    }
    if (type.getCallSignatures().length > 0) {
      throw new Error(`A function cannot be written out: ${checker.typeToString(type)}`);
    }
    const inner = `${indent}  `;
    const fields = [
      ...checker.getIndexInfosOfType(type).map((info) => {
        return `[key: ${written(info.keyType, inner)}]: ${written(info.type, inner)}`;
      }),
      ...checker.getPropertiesOfType(type).map((property) => field(property, inner)),
    ];
    return `{\n${fields.map((text) => `${inner}${text};\n`).join('')}${indent}}`;
  }

  function field(property, indent) {
    const optional = property.flags & ts.SymbolFlags.Optional;
    const type = checker.getTypeOfSymbol(property);
    const name = NAME.test(property.name) ? property.name : JSON.stringify(property.name);
    return `${name}${optional ? '?' : ''}: ${written(type, indent)}`;
  }

  return { expanded };
}

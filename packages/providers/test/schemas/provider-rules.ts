type Json = Readonly<Record<string, unknown>>
type Rule = (schema: Json, at: string) => readonly (string | false)[]

/** What OpenAI rejects in a schema (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, November 2026). */
export function openaiProblems(root: unknown, strict: boolean): string[] {
  const rule: Rule = ({ type, items, properties, required = [], additionalProperties, ...rest }) => [
    type === 'array' &&
      (typeof items !== 'object' || Array.isArray(items)) &&
      items !== false &&
      'a list without items',
    strict && type === 'object' && additionalProperties !== false && 'an open object',
    ...Object.keys(properties ?? {}).map(
      (name) => strict && !(required as string[]).includes(name) && `${name} is optional`,
    ),
    ...Object.keys(rest).map((key) => strict && !ofOpenai.has(key) && key),
  ]
  return [...rootProblems(root), ...problemsOf(root, rule)]
}
const ofOpenai = new Set(
  'title description enum const anyOf $ref $defs pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(
    ' ',
  ),
)

/** What Anthropic rejects (https://platform.claude.com/docs/en/build-with-claude/structured-outputs, November 2026). */
export function claudeProblems(root: unknown, strict: boolean): string[] {
  const rule: Rule = ({ type, items, additionalProperties, minItems, $ref, ...rest }) => [
    Array.isArray(items) && 'a tuple of draft 07',
    strict && type === 'object' && additionalProperties !== false && 'an open object',
    strict && type === 'array' && items === false && 'a list that is always empty',
    strict && Number(minItems) > 1 && 'minItems',
    ...Object.keys(rest).map((key) => strict && unsupportedByClaude.test(key) && key),
  ]
  const recursive = strict && String(JSON.stringify(root)).includes('"$ref":"#"') ? ['a recursive schema'] : []
  return [...rootProblems(root), ...recursive, ...problemsOf(root, rule)]
}
const unsupportedByClaude =
  /^(minimum|maximum|exclusive.*|multipleOf|minLength|maxLength|maxItems|oneOf|not|prefixItems|propertyNames)$/

/** What Gemini rejects in its own schemas, and in JSON Schemas (https://ai.google.dev/api/caching#Schema, November 2026). */
export function geminiProblems(root: unknown, isJsonSchema: boolean): string[] {
  const known = isJsonSchema ? ofGeminiJson : ofGemini
  const rule: Rule = ({ type, items, format, enum: values, ...rest }) => [
    type === 'array' && Object(items) !== items && 'a list without items',
    Array.isArray(type) && !isJsonSchema && 'several types',
    Array.isArray(values) &&
      !isJsonSchema &&
      !values.every((value) => typeof value === 'string') &&
      'an enum of numbers',
    type === 'string' && format !== undefined && !/^(enum|date-time)$/.test(String(format)) && `format ${format}`,
    ...Object.keys(rest).map((key) => !known.has(key) && key),
    rest.$ref !== undefined && !Object.keys({ ...rest }).every((key) => key.startsWith('$')) && 'keywords beside $ref',
  ]
  return problemsOf(root, rule)
}
const ofGemini = new Set(
  'title description nullable maxItems minItems properties required anyOf minimum maximum minLength maxLength pattern default'.split(
    ' ',
  ),
)
const ofGeminiJson = new Set(
  '$id $defs $ref title description maxItems minItems prefixItems properties required additionalProperties anyOf minimum maximum'.split(
    ' ',
  ),
)

function rootProblems(root: unknown): string[] {
  if (root === undefined) return []
  const { type, properties, ...rest } = root as Json
  const found = Object.keys(rest).filter((key) => /^(anyOf|oneOf|allOf|not|enum|\$ref)$/.test(key))
  if (type !== 'object') found.push(`the type ${String(type)}`)
  if (properties === undefined) found.push('no properties')
  return found.map((what) => `#: ${what}`)
}

/** Applies a rule to a schema and all schemas in it. */
function problemsOf(schema: unknown, rule: Rule, at = '#'): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one, index) => problemsOf(one, rule, `${at}/${index}`))
  if (typeof schema !== 'object' || schema === null) return []
  const here = rule(schema as Json, at).filter((what) => what !== false)
  const inner = Object.entries(schema).flatMap(([key, value]) => {
    if (/^(properties|\$defs|definitions)$/.test(key))
      return Object.entries(value as Json).flatMap(([name, one]) => problemsOf(one, rule, `${at}/${key}/${name}`))
    return /^(enum|const|default|required|type)$/.test(key) ? [] : problemsOf(value, rule, `${at}/${key}`)
  })
  const dangling = (schema as Json).$ref === '' ? [`${at}: an empty $ref`] : []
  return [...here.map((what) => `${at}: ${what}`), ...dangling, ...inner]
}

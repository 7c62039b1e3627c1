import type { Json } from '../format.ts'
import { base64Problems, isObject, listOf } from '../rules.ts'

const kinds = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]
const signatures = ['bGFiLXNpZ25hdHVyZQ==', 'skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']
const functionName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/

/** Returns what Gemini rejects: empty contents, unknown parts, as many results as calls in the next turn, signatures, schemas. */
export function geminiProblems(body: Json, path: string): string[] {
  const bad: string[] = path.includes(':streamGenerateContent') ? [] : [`the path ${path} is not streamGenerateContent`]
  const contents = listOf(body.contents)
  if (contents.length === 0) bad.push('contents is not specified')
  contents.forEach(({ role, parts }, index) => {
    const place = `contents[${index}]`
    if (role !== 'user' && role !== 'model') bad.push(`${place}: please use a valid role: user, model`)
    if (listOf(parts).length === 0) bad.push(`${place}: must include at least one parts field`)
    for (const part of listOf(parts)) bad.push(...partProblems(part, place))
    const calls = count(parts, 'functionCall')
    const answers = count(contents[index + 1]?.parts, 'functionResponse')
    if (calls > 0 && calls !== answers)
      bad.push(`${place}: ${answers} function response parts for ${calls} function call parts`)
    if (count(parts, 'functionResponse') > 0 && count(contents[index - 1]?.parts, 'functionCall') === 0)
      bad.push(`${place}: a function response turn comes immediately after a function call turn`)
  })
  const functions = listOf(body.tools).flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
  return [...bad, ...functions.flatMap(declarationProblems)]
}

function count(parts: unknown, kind: string): number {
  return listOf(parts).filter((part) => kind in part).length
}

function partProblems(part: Json, place: string): string[] {
  const kind = kinds.find((one) => one in part)
  if (kind === undefined) return [`${place}: a part without data: ${Object.keys(part).join(', ')}`]
  const bad: string[] = []
  const { thoughtSignature: signature } = part
  if (signature !== undefined && !signatures.includes(String(signature)))
    bad.push(`${place}: thought signature is not valid`)
  if (kind === 'inlineData' && isObject(part.inlineData)) {
    bad.push(...base64Problems(part.inlineData.data, place))
    if (typeof part.inlineData.mimeType !== 'string') bad.push(`${place}: inlineData has no mimeType`)
  }
  if (kind === 'functionCall' && isObject(part.functionCall) && !functionName.test(String(part.functionCall.name)))
    bad.push(`${place}: the function name ${JSON.stringify(part.functionCall.name)} is invalid`)
  if (kind === 'functionResponse' && isObject(part.functionResponse) && !isObject(part.functionResponse.response))
    bad.push(`${place}: the response of a function is no object`)
  return bad
}

function declarationProblems({ name, parameters, parametersJsonSchema }: Json): string[] {
  const bad = functionName.test(String(name)) ? [] : [`the function name ${JSON.stringify(name)} is invalid`]
  if (isObject(parametersJsonSchema) && parametersJsonSchema.type !== 'object')
    bad.push(`the schema of ${name} is not of the type object`)
  if (parameters !== undefined) bad.push(...schemaProblems(parameters, `the schema of ${name}`))
  return bad
}

/** `parameters` is a subset of OpenAPI 3.0. */
function schemaProblems(schema: unknown, place: string): string[] {
  if (!isObject(schema)) return []
  const bad: string[] = []
  for (const word of ['$ref', '$defs', '$schema', 'additionalProperties', 'oneOf', 'allOf', 'const', 'prefixItems'])
    if (word in schema) bad.push(`${place}: unknown name "${word}"`)
  if (Array.isArray(schema.type) || Array.isArray(schema.items))
    bad.push(`${place}: a list where one schema is expected`)
  if (
    String(schema.type).toUpperCase() === 'OBJECT' &&
    isObject(schema.properties) &&
    Object.keys(schema.properties).length === 0
  )
    bad.push(`${place}: properties should be non-empty for OBJECT type`)
  for (const [key, value] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    bad.push(...schemaProblems(value, `${place}.${key}`))
  return [
    ...bad,
    ...schemaProblems(schema.items, `${place}[]`),
    ...listOf(schema.anyOf).flatMap((one) => schemaProblems(one, `${place}|`)),
  ]
}

import type { Json } from './format.ts'

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/** OpenAI's rule, which most of the others have too. */
const toolName = /^[a-zA-Z0-9_-]{1,64}$/

/** Returns the faults of a tool's definition. */
export function toolProblems(name: unknown, schema: unknown, pattern = toolName): string[] {
  const bad: string[] = []
  if (typeof name !== 'string' || !pattern.test(name))
    bad.push(`the tool name ${JSON.stringify(name)} does not match ${pattern}`)
  if (schema !== undefined && (!isObject(schema) || schema.type !== 'object'))
    bad.push(`the schema of the tool ${name} is not of the type object`)
  else if (isObject(schema))
    for (const word of ['anyOf', 'oneOf', 'allOf'])
      if (word in schema) bad.push(`the schema of the tool ${name} has ${word} at its root`)
  return bad
}

/** Returns the places where a schema breaks the rules of OpenAI's strict mode: every key required, no other keys, an object at the root. */
export function strictProblems(schema: unknown, path = '#'): string[] {
  if (!isObject(schema)) return []
  const bad: string[] = []
  if (path === '#' && schema.type !== 'object') bad.push('#: the root is not of the type object')
  if (isObject(schema.properties)) {
    if (schema.additionalProperties !== false) bad.push(`${path}: additionalProperties is not false`)
    const required = Array.isArray(schema.required) ? schema.required : []
    for (const [key, value] of Object.entries(schema.properties)) {
      if (!required.includes(key)) bad.push(`${path}: ${key} is not required`)
      bad.push(...strictProblems(value, `${path}/${key}`))
    }
  }
  if ('oneOf' in schema) bad.push(`${path}: oneOf is not permitted`)
  for (const word of ['anyOf', 'allOf'])
    for (const one of listOf(schema[word])) bad.push(...strictProblems(one, `${path}/${word}`))
  if (isObject(schema.items)) bad.push(...strictProblems(schema.items, `${path}/items`))
  for (const one of Object.values(isObject(schema.$defs) ? schema.$defs : {}))
    bad.push(...strictProblems(one, `${path}/$defs`))
  return bad
}

/** Whether an image is at a URL or in a data URL. */
export function imageProblems(url: unknown, place: string): string[] {
  const isImage = /^(https?:|data:image\/[a-z]+;base64,[A-Za-z0-9+/=]+$)/.test(String(url))
  return isImage ? [] : [`${place}: the image is neither a URL nor base64: ${String(url).slice(0, 60)}`]
}

export function base64Problems(data: unknown, place: string): string[] {
  return typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
    ? []
    : [`${place}: data is no base64: ${JSON.stringify(data)?.slice(0, 60)}`]
}

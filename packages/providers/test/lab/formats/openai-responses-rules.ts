import type { Json } from '../format.ts'
import { imageProblems, isObject, listOf, strictProblems, toolProblems } from '../rules.ts'

/** Kinds of parts by role. */
const parts: Record<string, readonly string[]> = {
  user: ['input_text', 'input_image', 'input_file'],
  system: ['input_text'],
  developer: ['input_text'],
  assistant: ['output_text', 'refusal'],
}
/** How an item's id begins. */
const idPrefixes: Record<string, string> = { message: 'msg_', reasoning: 'rs_', function_call: 'fc_' }

/** Returns what Responses reject: unknown items and parts, ids, calls without results, reasoning without what follows it. */
export function responsesProblems(body: Json, prefixes: boolean): string[] {
  const bad: string[] = body.stream === true ? [] : ['stream is not true']
  const items = typeof body.input === 'string' ? [] : listOf(body.input)
  const open = new Set<unknown>()
  items.forEach((item, index) => {
    const place = `input[${index}]`
    const { type = 'message' } = item
    if (type === 'message') bad.push(...messageProblems(item, place))
    else if (type === 'function_call') {
      bad.push(...callProblems(item, place))
      if (open.has(item.call_id)) bad.push(`${place}: the call_id ${item.call_id} is there twice`)
      open.add(item.call_id)
    } else if (type === 'function_call_output') {
      if (!open.delete(item.call_id))
        bad.push(`${place}: no tool call found for call_id ${JSON.stringify(item.call_id)}`)
      bad.push(...outputProblems(item.output, place))
    } else if (type === 'reasoning') bad.push(...reasoningProblems(item, items[index + 1], place))
    else if (type === 'item_reference')
      bad.push(...(isOurs(item.id) ? [] : [`${place}: item ${JSON.stringify(item.id)} not found`]))
    else bad.push(`${place}: unknown item type ${JSON.stringify(type)}`)
    const prefix = prefixes ? idPrefixes[String(type)] : undefined
    if (item.id !== undefined && prefix !== undefined && !String(item.id).startsWith(prefix))
      bad.push(`${place}: the id ${JSON.stringify(item.id)} does not begin with ${prefix}`)
    if (String(item.id ?? '').length > 64) bad.push(`${place}: the id has more than 64 characters`)
  })
  // A referenced call is known to the server.
  if (open.size > 0) bad.push(`no tool output found for function call ${[...open].join(', ')}`)
  return [...bad.filter((one) => !isReferenced(one, items)), ...toolListProblems(body), ...formatProblems(body.text)]
}

function isOurs(id: unknown): boolean {
  return /^(rs|msg|fc)_lab\d+$/.test(String(id))
}

/** The result of a call that is there as a reference: the server knows the call_id, the request does not say it. */
function isReferenced(problem: string, items: Json[]): boolean {
  return (
    problem.includes('no tool call found') &&
    items.some(({ type, id }) => type === 'item_reference' && /^fc_lab/.test(String(id)))
  )
}

function messageProblems({ role, content }: Json, place: string): string[] {
  const known = parts[String(role)]
  if (known === undefined) return [`${place}: unknown role ${JSON.stringify(role)}`]
  return listOf(content).flatMap((part) => {
    if (!known.includes(String(part.type)))
      return [`${place}: unknown part ${JSON.stringify(part.type)} of the role ${role}`]
    return partProblems(part, place)
  })
}

function partProblems(part: Json, place: string): string[] {
  if (part.type === 'input_image' && part.file_id === undefined) return imageProblems(part.image_url, place)
  if (
    part.type === 'input_file' &&
    part.file_data !== undefined &&
    !/^data:[\w.+-]+\/[\w.+-]+;base64,/.test(String(part.file_data))
  )
    return [`${place}: file_data is no data URL`]
  return []
}

function callProblems({ call_id: id, name, arguments: args }: Json, place: string): string[] {
  const bad: string[] = []
  if (typeof id !== 'string' || id === '' || id.length > 64)
    bad.push(`${place}: the call_id ${JSON.stringify(id)} does not have 1 to 64 characters`)
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
    bad.push(`${place}: the name of a call is ${JSON.stringify(name)}`)
  if (typeof args !== 'string') bad.push(`${place}: the arguments are no text`)
  return bad
}

function outputProblems(output: unknown, place: string): string[] {
  if (typeof output === 'string') return []
  return listOf(output).flatMap((part) =>
    ['input_text', 'input_image', 'input_file'].includes(String(part.type))
      ? partProblems(part, place)
      : [`${place}: unknown part ${JSON.stringify(part.type)} of an output`],
  )
}

function reasoningProblems(
  { encrypted_content: encrypted, id }: Json,
  next: Json | undefined,
  place: string,
): string[] {
  const bad: string[] = []
  if (encrypted !== undefined && encrypted !== null && encrypted !== 'lab-encrypted')
    bad.push(`${place}: the encrypted content could not be verified`)
  else if (encrypted !== 'lab-encrypted' && id !== undefined && !isOurs(id))
    bad.push(`${place}: item ${JSON.stringify(id)} not found`)
  const isFollowed =
    next !== undefined && (next.role === undefined ? next.type !== 'function_call_output' : next.role === 'assistant')
  if (!isFollowed) bad.push(`${place}: reasoning was provided without its required following item`)
  return bad
}

function toolListProblems(body: Json): string[] {
  return listOf(body.tools).flatMap(({ type, name, parameters, strict }) =>
    type === 'function'
      ? [...toolProblems(name, parameters), ...(strict === true ? strictProblems(parameters) : [])]
      : [],
  )
}

function formatProblems(text: unknown): string[] {
  const format = isObject(text) ? text.format : undefined
  return isObject(format) && format.strict === true ? strictProblems(format.schema) : []
}

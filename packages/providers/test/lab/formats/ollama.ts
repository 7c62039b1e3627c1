import { type Answer, type Format, type Json, usage, type WireEvent } from '../format.ts'
import { isObject, listOf, toolProblems } from '../rules.ts'
import { halves } from './halves.ts'

/** Ollama's own chat, a JSON object in each line. */
export const ollama: Format = {
  name: 'ollama',
  source: { url: 'https://docs.ollama.com/api/chat', read: '2026-11-29' },
  family: 'ollama',
  contentType: 'application/x-ndjson',
  problems,
  events,
  tail: 0,
  errors: [{ form: 'line', event: line({ error: 'boom' }), status: false }],
  finishes: [
    { raw: 'stop', means: 'stop' },
    { raw: 'length', means: 'length' },
  ],
  failure: (_status, message) => ({ error: message }),
  reasoning: true,
  counts: { cached: false, reasoning: false },
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}

function events({ reasoning, text, calls = [], finish = 'stop' }: Answer): WireEvent[] {
  const head = { model: 'm', created_at: '2026-11-29T00:00:00Z' }
  const chunk = (message: object) =>
    line({ ...head, message: { role: 'assistant', content: '', ...message }, done: false })
  const out: string[] = []
  if (reasoning !== undefined) for (const thinking of halves(reasoning)) out.push(chunk({ thinking }))
  if (text !== undefined) for (const content of halves(text)) out.push(chunk({ content }))
  // Ollama sends a call whole.
  for (const { name, args } of calls)
    out.push(chunk({ tool_calls: [{ function: { name, arguments: JSON.parse(args || '{}') } }] }))
  const counts = {
    total_duration: 1,
    load_duration: 1,
    prompt_eval_count: usage.input,
    prompt_eval_duration: 1,
    eval_count: usage.output,
    eval_duration: 1,
  }
  out.push(line({ ...head, message: { role: 'assistant', content: '' }, done: true, done_reason: finish, ...counts }))
  return out
}

/** Returns what Ollama rejects because it cannot decode it: contents that are no text, images that are no base64, arguments that are no object. */
function problems(body: Json): string[] {
  const bad: string[] = body.stream === false ? ['stream is false'] : []
  listOf(body.messages).forEach(({ role, content, images, tool_calls: calls }, index) => {
    const place = `messages[${index}]`
    if (!['system', 'user', 'assistant', 'tool'].includes(String(role)))
      bad.push(`${place}: invalid role ${JSON.stringify(role)}`)
    if (content !== undefined && typeof content !== 'string')
      bad.push(`${place}: cannot unmarshal the content into a text`)
    for (const image of Array.isArray(images) ? images : [])
      if (typeof image !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(image)) bad.push(`${place}: illegal base64 data`)
    for (const call of listOf(calls))
      if (!isObject(call.function) || !isObject(call.function.arguments))
        bad.push(`${place}: cannot unmarshal the arguments into an object`)
  })
  const tools = listOf(body.tools).map((tool) => (isObject(tool.function) ? tool.function : {}))
  return [...bad, ...tools.flatMap(({ name, parameters }) => toolProblems(name, parameters, /./))]
}

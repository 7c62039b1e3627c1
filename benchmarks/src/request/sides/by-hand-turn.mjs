import { modelCall } from './model-call.mjs'
import { weather } from './tool.mjs'

/** Calls the model and the tools, and writes the answer to the stream. Returns the messages that the turn adds. */
export async function turn({ url, messages, stream, signal }) {
  const added = []
  await stream.start()
  for (let step = 0; step < 10; step++) {
    const answer = { role: 'assistant', content: '' }
    await stream.beginStep()
    for await (const { content, tool_calls } of modelCall({ url, messages: [...messages, ...added], tools, signal })) {
      if (content) {
        answer.content += content
        await stream.text(content)
      }
      for (const { index, id, function: fn } of tool_calls ?? []) {
        addCall(answer, index, id, fn)
        await stream.call(answer.tool_calls[index], fn)
      }
    }
    added.push(answer)
    for (const { id, function: fn } of answer.tool_calls ?? []) {
      const args = JSON.parse(fn.arguments)
      await stream.args(id, fn.name, args)
      const content = weather.execute(weather.schema.parse(args))
      added.push({ role: 'tool', tool_call_id: id, content })
      await stream.result(id, content)
    }
    await stream.endStep()
    if (answer.tool_calls === undefined) break
  }
  await stream.end()
  return added
}

function addCall(answer, index, id, fn) {
  answer.tool_calls ??= []
  const call = (answer.tool_calls[index] ??= { id, type: 'function', function: { name: fn.name, arguments: '' } })
  call.function.arguments += fn.arguments ?? ''
}

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tools = [
  { type: 'function', function: { name: weather.name, description: weather.description, parameters: city } },
]

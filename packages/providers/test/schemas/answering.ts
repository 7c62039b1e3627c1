import { createAnthropic } from '@ai-sdk/anthropic'
import { createAnthropic as createAnthropicV4 } from '@ai-sdk/anthropic-v4'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createGoogleGenerativeAI as createGoogleV4 } from '@ai-sdk/google-v4'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAI as createOpenAiV4 } from '@ai-sdk/openai-v4'
import type { Model } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { claudeProblems, geminiProblems, openaiProblems } from './provider-rules.ts'

type Json = Record<string, unknown>

/** A provider whose answers a test gives, in the wire format of its package. */
export interface Provider {
  readonly name: string
  /**
   * Returns a model. `answer` makes the answer from the schema that arrived: its text, or the arguments of the tool. Then the model
   * says "ok".
   */
  model(requests: Json[], answer: (schema: Json) => object): Model
  /** Returns what the provider rejects in a request. */
  problems(body: Json): string[]
}

interface Wire extends Pick<Provider, 'problems'> {
  /** The schema of the answer or of the tool. */
  schema(body: Json): unknown
  text(text: string): object[]
  call(name: string, args: object): object[]
}

type Fetch = typeof globalThis.fetch

export const providers: readonly Provider[] = [
  providerOf('OpenAI Responses', responses(), (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5')),
  providerOf('OpenAI chat', chat(), (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-5')),
  providerOf('OpenAI Responses, V4', responses(), (fetch) => createOpenAiV4({ apiKey: 'k', fetch }).responses('gpt-5')),
  providerOf('Anthropic', anthropic(), (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5')),
  providerOf('Anthropic, V4', anthropic(), (fetch) => createAnthropicV4({ apiKey: 'k', fetch })('claude-sonnet-4-5')),
  providerOf('Claude without formats', anthropic(), (fetch) =>
    createAnthropic({ apiKey: 'k', fetch })('claude-3-haiku'),
  ),
  providerOf('Google', google(), (fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch })('gemini-2.5-flash')),
  providerOf('Google, V4', google(), (fetch) => createGoogleV4({ apiKey: 'k', fetch })('gemini-2.5-flash')),
]

function providerOf(name: string, wire: Wire, create: (fetch: Fetch) => object): Provider {
  return {
    name,
    problems: wire.problems,
    model(requests, answer) {
      const fetch: Fetch = async (_, init) => {
        const body = JSON.parse(String(init?.body)) as Json
        requests.push(body)
        // The package of Anthropic asks for an answer through a tool of this name, where there is no format.
        const tool = /"name":"(json|work)"/.exec(JSON.stringify(body.tools ?? []))?.[1]
        const isCalled = requests.length > 1 || tool === undefined
        const given = requests.length > 1 ? undefined : answer(wire.schema(body) as Json)
        const events = isCalled
          ? wire.text(given === undefined ? 'ok' : JSON.stringify(given))
          : wire.call(tool, given ?? {})
        return new Response(events.map(frame).join(''), { headers: { 'content-type': 'text/event-stream' } })
      }
      return fromAiSdk(create(fetch) as Parameters<typeof fromAiSdk>[0])
    },
  }
}

function frame(event: object): string {
  const { type } = event as { type?: string }
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`
}

/** Returns a place of a body; undefined if it has none. */
function at(value: unknown, ...keys: (string | number)[]): unknown {
  return keys.reduce<unknown>((place, key) => (place as Json | undefined)?.[key as string], value)
}

function responses(): Wire {
  const ends = (item: object, ...deltas: object[]) => [
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'gpt-5' } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...deltas,
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
    },
  ]
  return {
    schema: (body) => at(body, 'text', 'format', 'schema') ?? at(body, 'tools', 0, 'parameters'),
    problems(body) {
      const { schema, strict } = (at(body, 'text', 'format') ?? {}) as Json
      const tool = (at(body, 'tools', 0) ?? {}) as Json
      return [...openaiProblems(schema, strict === true), ...openaiProblems(tool.parameters, tool.strict === true)]
    },
    text: (text) =>
      ends({ type: 'message', id: 'm' }, { type: 'response.output_text.delta', item_id: 'm', delta: text }),
    call: (name, args) =>
      ends({
        type: 'function_call',
        id: 'f',
        call_id: 'c',
        name,
        arguments: JSON.stringify(args),
        status: 'completed',
      }),
  }
}

function chat(): Wire {
  const ends = (delta: object, finish_reason: string) => [
    { id: 'c', created: 1, model: 'gpt-5', choices: [{ index: 0, delta, finish_reason: null }] },
    { id: 'c', created: 1, model: 'gpt-5', choices: [{ index: 0, delta: {}, finish_reason }] },
  ]
  return {
    schema: (body) =>
      at(body, 'response_format', 'json_schema', 'schema') ?? at(body, 'tools', 0, 'function', 'parameters'),
    problems(body) {
      const { schema, strict } = (at(body, 'response_format', 'json_schema') ?? {}) as Json
      const tool = (at(body, 'tools', 0, 'function') ?? {}) as Json
      return [...openaiProblems(schema, strict === true), ...openaiProblems(tool.parameters, tool.strict === true)]
    },
    text: (content) => ends({ role: 'assistant', content }, 'stop'),
    call: (name, args) =>
      ends(
        { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name, arguments: JSON.stringify(args) } }] },
        'tool_calls',
      ),
  }
}

function anthropic(): Wire {
  const message = {
    id: 'm',
    model: 'claude',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const ends = (content_block: object, delta: object, stop_reason: string) => [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  return {
    schema: (body) => at(body, 'output_config', 'format', 'schema') ?? at(body, 'tools', 0, 'input_schema'),
    problems(body) {
      const tool = (at(body, 'tools', 0) ?? {}) as Json
      const format = at(body, 'output_config', 'format', 'schema')
      return [...claudeProblems(format, true), ...claudeProblems(tool.input_schema, tool.strict === true)]
    },
    text: (text) => ends({ type: 'text', text: '' }, { type: 'text_delta', text }, 'end_turn'),
    call: (name, args) =>
      ends(
        { type: 'tool_use', id: 'c', name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(args) },
        'tool_use',
      ),
  }
}

function google(): Wire {
  const ends = (part: object) => [
    { candidates: [{ content: { role: 'model', parts: [part] }, index: 0, finishReason: 'STOP' }] },
  ]
  const inWords = (body: Json) =>
    /JSON Schema: (\{.*\})/.exec(String(at(body, 'systemInstruction', 'parts', 0, 'text')))?.[1]
  const tool = (body: Json) => (at(body, 'tools', 0, 'functionDeclarations', 0) ?? {}) as Json
  return {
    schema(body) {
      const { responseSchema, responseJsonSchema } = (body.generationConfig ?? {}) as Json
      const { parameters, parametersJsonSchema } = tool(body)
      return (
        responseSchema ??
        responseJsonSchema ??
        parameters ??
        parametersJsonSchema ??
        JSON.parse(inWords(body) ?? 'null')
      )
    },
    problems(body) {
      const { responseSchema, responseJsonSchema } = (body.generationConfig ?? {}) as Json
      const { parameters, parametersJsonSchema } = tool(body)
      return [responseSchema, parameters, responseJsonSchema, parametersJsonSchema].flatMap((schema, index) =>
        geminiProblems(schema, index > 1),
      )
    },
    text: (text) => ends({ text }),
    call: (name, args) => ends({ functionCall: { id: 'c', name, args } }),
  }
}

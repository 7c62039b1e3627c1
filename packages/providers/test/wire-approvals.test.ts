import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAI as createOpenAIV4 } from '@ai-sdk/openai-v4'
import { Agent, type Middleware } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { fromAiSdkMiddleware } from '@allium/providers/middleware'
import { describe, expect, it } from 'vitest'
import { chatEvents } from './wire-events.ts'
import { sse, wireServer } from './wire-server.ts'
import { apiKey, event } from './wires.ts'

const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5', output: [] }
const usage = { input_tokens: 20, output_tokens: 7 }
const answer = (...items: { id: string; type: string; [field: string]: unknown }[]): string =>
  [
    { type: 'response.created', response },
    ...items.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { ...response, usage } },
  ]
    .map(event)
    .join('')

const call = { name: 'create_issue', server_label: 'tracker', arguments: '{"title":"Bug"}' }
const asks = answer({ id: 'mcpr_1', type: 'mcp_approval_request', ...call })
const runs = answer({
  id: 'mcp_1',
  type: 'mcp_call',
  status: 'completed',
  approval_request_id: 'mcpr_1',
  ...call,
  output: 'Created 7.',
  error: null,
})
const tracker = {
  name: 'mcp',
  description: '',
  providerExecuted: {
    id: 'openai.mcp',
    args: { serverLabel: 'tracker', serverUrl: 'https://tracker.example/mcp', requireApproval: 'always' },
  },
}

describe.each([
  ['v3', (options: object) => createOpenAI(options).responses('gpt-5')],
  ['v4', (options: object) => createOpenAIV4(options).responses('gpt-5')],
])('an approval that OpenAI asks for, by its %s package', (_, make) => {
  async function waiting(layers: Middleware[] = []) {
    const { url, requests } = await wireServer(sse(asks), sse(runs))
    const model = fromAiSdk(make({ apiKey, baseURL: `${url}/v1` }))
    const session = new Agent({ model, tools: [tracker] }).use(layers).session()
    const { status } = await session.run('File a bug')
    return { session, status, requests, sent: () => requests[1]!.body.input as unknown as Record<string, unknown>[] }
  }

  it('waits for a person, who sees the call and its server', async () => {
    const { session, status, requests } = await waiting()
    const reason = 'The provider asks whether it may run "mcp.create_issue" of the MCP server "tracker".'
    expect([status, requests.length]).toEqual(['suspended', 1])
    expect(session.pending).toMatchObject([{ name: 'mcp.create_issue', args: { title: 'Bug' }, request: { reason } }])
  })

  it.each([
    [true, { approve: true as const }],
    [false, { deny: 'Not now.' }],
  ])('gets approve: %s', async (approve, decision) => {
    const { session, sent } = await waiting()
    const [pending] = session.pending
    const { toolCalls, messages } = await session.resume({ [pending!.callId]: decision })
    expect(sent().filter(({ type }) => type === 'mcp_approval_response')).toEqual([
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve },
    ])
    expect(sent().some(({ type }) => String(type).startsWith('function_call'))).toBe(false)
    expect(toolCalls[0]?.result.status).toBe(approve ? 'ok' : 'denied')
    expect(JSON.stringify(messages)).toContain('Created 7.')
  })

  it('is passed on by a middleware of the AI SDK that waits for the whole answer', async () => {
    const wrapGenerate = ({ doGenerate }: { doGenerate(): Promise<object> }) => doGenerate()
    const { session, sent } = await waiting([
      fromAiSdkMiddleware({ specificationVersion: 'v3', wrapGenerate } as never),
    ])
    await session.resume({ [session.pending[0]!.callId]: { approve: true } })
    expect(sent().find(({ type }) => type === 'mcp_approval_response')).toMatchObject({ approve: true })
  })

  it('is passed on by a middleware of the AI SDK that copies all it sees', async () => {
    const copies = {
      specificationVersion: 'v3',
      transformParams: async ({ params }: { params: { prompt: object[] } }) => ({
        ...params,
        prompt: JSON.parse(JSON.stringify(params.prompt)).map((message: object) => ({ ...message, copied: true })),
      }),
      wrapStream: async ({ doStream }: { doStream(): Promise<{ stream: ReadableStream<object> }> }) => ({
        stream: (await doStream()).stream.pipeThrough(
          new TransformStream({ transform: (part: object, out) => out.enqueue({ ...part, copied: true }) }),
        ),
      }),
    }
    const { session, sent } = await waiting([fromAiSdkMiddleware(copies as never)])
    const [pending] = session.pending
    expect(pending?.request?.reason).toContain('"tracker"')
    await session.resume({ [pending!.callId]: { approve: true } })
    expect(sent().find(({ type }) => type === 'mcp_approval_response')).toMatchObject({ approve: true })
  })

  it('is no part of what another model is sent', async () => {
    const { session } = await waiting()
    const { url, requests } = await wireServer(sse(chatEvents.join('')))
    const other = fromAiSdk(createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat('gpt-4o'))
    const { callId } = session.pending[0]!
    await session.resume({ [callId]: { deny: 'no' } })
    await session.run('Go on', { model: other }).settled()
    const { messages } = requests[0]!.body as unknown as { messages: { tool_calls?: { id: string }[] }[] }
    expect(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))).toEqual(['mcp_1'])
    expect(callId).not.toBe('mcp_1')
  })
})

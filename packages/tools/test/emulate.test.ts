import { Agent, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type EmulateOptions, emulate, agent as subAgent, type ToolsEmulated } from '../src/index.ts'

function scene(
  played: ScriptedStep[],
  options: Partial<EmulateOptions> = {},
  { args = { item: 'tea' }, ...more }: Around = {},
) {
  let ran = 0
  const execute = () => ++ran
  const order = { name: 'order', description: 'Orders an item', jsonSchema: { type: 'object' }, execute, ...more.tool }
  const other = { name: 'other', description: 'Another', jsonSchema: {}, execute }
  const calls = [{ name: 'order', args }, ...(more.both === true ? [{ name: 'other' }] : [])]
  const model = scriptedModel([{ toolCalls: calls }, 'Done.'])
  const player = scriptedModel(played, { id: 'small/player' })
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const agent = new Agent({ model, tools: [order, other], logger: { warn: note, error: note } })
    .use(more.layers ?? [])
    .use(emulate({ model: player, ...options }))
  const told: ToolsEmulated[] = []
  agent.on('tools:emulate', (event) => told.push(event))
  return { agent, player, model, told, log, run: () => agent.run('go'), ran: () => ran }
}

interface Around {
  args?: Record<string, unknown>
  both?: boolean
  tool?: object
  layers?: Middleware[]
}

describe('tools.emulate', () => {
  it('gives what the model made up in the place of the tool, which does not run', async () => {
    const { run, ran } = scene(['{"orderId":7}'])
    const { toolCalls } = await run()
    expect(toolCalls[0]?.result).toMatchObject({ status: 'skipped', content: '{"orderId":7}', value: { orderId: 7 } })
    expect(ran()).toBe(0)
  })

  it('tells the player the tool, its arguments and its world, and nothing of the conversation', async () => {
    const { run, player } = scene(['ok'], { instructions: 'Tea is sold out.' })
    await run()
    const [system, user] = player.requests[0]?.messages ?? []
    expect(system?.content).toContain('Tea is sold out.')
    expect(JSON.parse(String(user?.content))).toEqual({
      name: 'order',
      description: 'Orders an item',
      jsonSchema: { type: 'object' },
      args: { item: 'tea' },
    })
  })

  it('plays the tools that it names alone', async () => {
    const { run, ran, player } = scene(['ok'], { tools: ['order'] }, { both: true })
    const { toolCalls } = await run()
    expect(toolCalls.map(({ result }) => result.status)).toEqual(['skipped', 'ok'])
    expect([ran(), player.calls]).toEqual([1, 1])
  })

  it('counts the usage as the run’s own, and tells and marks each call', async () => {
    let marks: unknown
    const look: Middleware = {
      name: 'look',
      async turn({ metadata }, next) {
        await next()
        marks = metadata['tools:emulate']
      },
    }
    const { run, told } = scene(['ok'], {}, { layers: [look] })
    expect((await run()).usage.calls).toBe(3)
    expect(told).toMatchObject([{ tool: 'order', callId: 'call-1', model: 'small/player', inputTokens: 10 }])
    expect(marks).toEqual(['call-1'])
  })

  it.each<[string, ScriptedStep]>([
    ['fails', new Error('secret of the provider')],
    ['is blocked', 'a bad word'],
  ])('never runs the tool where the player %s', async (_, step) => {
    const guard: Middleware = {
      name: 'guard',
      async model(ctx, next) {
        const response = await next()
        return response.text.includes('bad') ? ctx.block('no') : response
      },
    }
    const { run, ran, log } = scene([step], { use: [guard] })
    expect((await run()).toolCalls[0]?.result).toMatchObject({
      isError: true,
      content: 'The tool "order" could not be emulated.',
    })
    expect([ran(), log.length]).toEqual([0, 1])
  })

  it('never runs a tool whose arguments do not fit, even if a layer inside would mend them', async () => {
    const { agent, run, ran, player } = scene([], {}, { args: JSON.parse('{"__proto__": {}}') })
    agent.use({
      name: 'mend',
      innermost: true,
      tool(ctx, next) {
        ctx.modifyArgs(() => ({}))
        return next()
      },
    })
    expect((await run()).toolCalls[0]?.result.isError).toBe(true)
    expect([ran(), player.calls]).toEqual([0, 0])
  })

  it('leaves what is denied denied, and asks nobody to approve what does not happen', async () => {
    const policy: Middleware = { name: 'policy', innermost: true, tool: (ctx) => ctx.deny('not you') }
    expect((await scene([], {}, { layers: [policy] }).run()).toolCalls[0]?.result.status).toBe('denied')
    const { run } = scene(['ok'], {}, { tool: { requireApproval: true } })
    expect(await run()).toMatchObject({ status: 'completed', toolCalls: [{ result: { content: 'ok' } }] })
  })

  it('plays the tools of sub-agents too', async () => {
    let ran = 0
    const tool = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => ++ran }
    const inner = scriptedModel([{ toolCalls: [{ name: 'pay' }] }, 'Paid.'])
    const clerk = new Agent({ name: 'clerk', model: inner, tools: [tool] })
    const model = scriptedModel([{ toolCalls: [{ name: 'clerk', args: { task: 'pay' } }] }, 'Done.'])
    const player = scriptedModel(['receipt 1'])
    const agent = new Agent({ model })
      .use(subAgent({ agent: clerk, description: 'Pays' }))
      .use(emulate({ model: player, tools: ['pay'] }))
    expect((await agent.run('go')).toolCalls[0]?.result.content).toBe('Paid.')
    expect(JSON.stringify(inner.requests[1]?.messages)).toContain('receipt 1')
    expect(ran).toBe(0)
  })

  it('ends with the run', async () => {
    const { run, player } = scene([{ text: 'o', stall: true }])
    const running = run()
    while (player.calls === 0) await new Promise(setImmediate)
    running.abort('enough')
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
  })
})

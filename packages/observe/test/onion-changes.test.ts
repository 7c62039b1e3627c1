import { type Agent, delegate, type Middleware, type ToolExecution } from '@allium/core'
import { leaks, manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type OnionSpan, onion } from '../src/index.ts'
import { calling, decide, naughty, scene, tool } from './scene.ts'

const hello: ScriptedStep[] = ['hello']

function watched(layers: Middleware[], steps = hello, options: Parameters<typeof scene>[2] = {}) {
  const watch = onion()
  const made = scene(steps, [watch, ...layers], { tools: [tool('look')], ...options })
  const session = made.agent.session({ id: 's' })
  /** What each layer changed, by its name. */
  const changes = (turnId: string) => {
    const found: Record<string, OnionSpan['changed']> = {}
    const visit = (span: OnionSpan) => {
      if (span.changed !== undefined) found[span.layer] = span.changed
      span.children.forEach(visit)
    }
    const turn = watch.timeline(turnId)
    if (turn !== undefined) visit(turn.root)
    return found
  }
  return { ...made, watch, session, changes }
}

const model = (
  name: string,
  change: (ctx: Parameters<NonNullable<Middleware['model']>>[0]) => unknown,
): Middleware => ({
  name,
  model(ctx, next) {
    change(ctx)
    return next()
  },
})

describe('observe.onion: who changed what', () => {
  it('tells which fields of a model call a layer changed, and how much', async () => {
    const layers = [
      model('brief', (ctx) => ctx.addSystemMessage('Be brief: secret-prompt')),
      model('looks', (ctx) => ctx.messages.length + ctx.toolDefs.length),
      model('cold', (ctx) => (ctx.settings = { ...ctx.settings, temperature: 0 })),
      model('hides', (ctx) => ctx.removeTools('look')),
      model('routes', (ctx) => ctx.setModel(scriptedModel(['hello'], { id: 'other/model' }))),
    ]
    const { session, watch, changes } = watched(layers)
    const { turnId } = await session.run('hi')
    expect(changes(turnId)).toEqual({
      brief: [{ field: 'messages', note: '1 → 2' }],
      cold: [{ field: 'settings', note: 'temperature' }],
      hides: [{ field: 'tools', note: '1 → 0' }],
      routes: [{ field: 'model', note: 'scripted/model → other/model' }],
    })
    expect(watch.explain(turnId)).toBe(`Turn 1 of the session "s", completed after 0.0 ms
"brief" changed the messages (1 → 2) of the model call.
"cold" changed the settings (temperature) of the model call.
"hides" changed the tools (1 → 0) of the model call.
"routes" changed the model (scripted/model → other/model) of the model call.`)
    expect(watch.toText(turnId)).toMatch(/brief +0\.0 ms {2}changed messages\n/)
    expect(leaks([watch.timeline(turnId), watch.toHTML(turnId)], 'secret-prompt')).toEqual([])
  })

  it('tells who changed arguments, in place or not, the input, and what a call gave', async () => {
    const layers: Middleware[] = [
      {
        name: 'asks',
        turn: (ctx, next) => {
          ctx.input = [{ role: 'user', content: 'other' }]
          return next()
        },
      },
      {
        name: 'merges',
        tool: (ctx, next) => {
          ctx.modifyArgs({ n: 1 })
          return next()
        },
      },
      {
        name: 'reads',
        tool: (ctx, next) => {
          Object.keys(ctx.args)
          return next()
        },
      },
      {
        name: 'mutates',
        tool: (ctx, next) => {
          ctx.args.n = 2
          return next()
        },
      },
      { name: 'cuts', tool: async (_, next) => `${(await next()).content}`.slice(0, 3) },
    ]
    const { session, watch, changes } = watched(layers, [calling(['look']), 'done'])
    const { turnId } = await session.run('hi')
    expect(changes(turnId)).toEqual({
      asks: [{ field: 'input' }],
      merges: [{ field: 'args' }],
      mutates: [{ field: 'args' }],
      cuts: [{ field: 'result' }],
    })
    expect(watch.explain(turnId)).toContain('"merges" changed the arguments of the call of "look".')
    expect(watch.explain(turnId)).toContain('"cuts" changed the result of the call of "look".')
  })

  it('tells both where a layer changed what is asked for and what came', async () => {
    const both: Middleware = {
      name: 'both',
      async model(ctx, next) {
        ctx.hold()
        ctx.addMessage({ role: 'user', content: 'more' })
        return { ...(await next()), text: '***' }
      },
    }
    const { session, watch, changes } = watched([both])
    const { turnId } = await session.run('hi')
    expect(changes(turnId).both).toEqual([{ field: 'messages', note: '1 → 2' }, { field: 'text' }])
    expect(watch.explain(turnId).split('\n').slice(1)).toEqual([
      '"both" changed the messages (1 → 2) of the model call.',
      '"both" changed the result of the model call.',
    ])
  })

  it('tells what was changed of a call that failed', async () => {
    const { session, watch } = watched([model('brief', (ctx) => ctx.addSystemMessage('x'))], [new Error('503')])
    await session.run('hi').settled()
    expect(
      watch
        .explain(watch.turns()[0] ?? '')
        .split('\n')
        .slice(1),
    ).toEqual(['"brief" changed the messages (1 → 2) of the model call.', 'The model "scripted/model" failed: 503'])
    expect(watch.toText(watch.turns()[0] ?? '')).toContain('changed messages')
  })

  it('changes nothing of the run by looking', async () => {
    const seen = async (watch: Middleware[]) => {
      const made = scene([calling(['look', { n: 1 }]), 'a b'], [...watch, model('reads', (ctx) => ctx.messages)], {
        ids: () => 'id',
        tools: [tool('look')],
      })
      const events: unknown[] = []
      for await (const event of made.agent.run('hi')) events.push(event)
      return { events, requests: made.model.requests }
    }
    expect(await seen([onion()])).toEqual(await seen([]))
  })
})

describe('observe.onion: turns that belong together', () => {
  it('tells of a turn that waited where it went on, and the other way round', async () => {
    const pay = tool('pay', undefined, { requireApproval: true })
    const { session, watch } = watched([], [calling(['pay']), 'ok'], { tools: [pay] })
    const first = await session.run('hi')
    const { turnId } = await decide(session, { approve: true })
    expect(watch.timeline(turnId)).toMatchObject({ resumed: true, rootTurnId: first.turnId, status: 'completed' })
    expect(watch.explain(turnId)).toContain(`It continues the turn "${first.turnId}".`)
    expect(watch.explain(first.turnId)).toContain(`It continued in the turn "${turnId}", completed.`)
  })

  const asks = (inner: Agent) => ({
    ...tool('research'),
    execute: async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, inner, 'dig'))?.text,
  })

  it('sees in a sub-agent the layers that it inherits', async () => {
    const inner = scene([calling(['dig']), 'Found.'], [], { name: 'digger', tools: [tool('dig')] }).agent
    const inherited: Middleware = { name: 'guard', inherit: true, model: (_, next) => next() }
    const { session, watch } = watched([inherited], [calling(['research']), 'ok'], { tools: [asks(inner)] })
    const { turnId } = await session.run('hi')
    const [, innerId = ''] = watch.turns()
    expect(watch.timeline(innerId)).toMatchObject({ agent: 'digger', rootTurnId: turnId, status: 'completed' })
    expect(watch.toText(innerId).match(/guard/g)).toHaveLength(2)
    expect(watch.explain(turnId)).toContain(`The agent "digger" ran for it in the turn "${innerId}", completed.`)
    expect(watch.explain(innerId)).toContain(`It ran for the turn "${turnId}".`)
  })

  it('blames no inherited layer for a denial by a layer of the sub-agent, which it does not see', async () => {
    const denies: Middleware = { name: 'denies', tool: (ctx) => ctx.deny('Not this.') }
    const inner = scene([calling(['dig']), 'Sorry.'], [denies], { name: 'digger', tools: [tool('dig')] }).agent
    const inherited = (name: string): Middleware => ({ name, inherit: true, tool: (_, next) => next() })
    const own: Middleware = {
      name: 'owner',
      inherit: true,
      tool: (ctx, next) => (ctx.tool.name === 'bury' ? ctx.deny('No.') : next()),
    }
    const layers = [inherited('guard'), inherited('log'), own]
    const { session, watch } = watched(layers, [calling(['research']), 'ok'], { tools: [asks(inner)] })
    await session.run('hi')
    const [, innerId = ''] = watch.turns()
    expect(watch.toText(innerId)).toMatch(/guard/)
    expect(watch.explain(innerId)).not.toMatch(/"(guard|log|owner)" denied/)
    expect(JSON.stringify(watch.timeline(innerId)?.root)).not.toContain('"denied"')
  })

  it('names the inherited layer that denied a call of a sub-agent', async () => {
    const inner = scene([calling(['dig']), 'Sorry.'], [], { name: 'digger', tools: [tool('dig')] }).agent
    const denies: Middleware = {
      name: 'denies',
      inherit: true,
      tool: (ctx, next) => (ctx.tool.name === 'dig' ? ctx.deny('No.') : next()),
    }
    const { session, watch } = watched([denies], [calling(['research']), 'ok'], { tools: [asks(inner)] })
    await session.run('hi')
    expect(watch.explain(watch.turns()[1] ?? '')).toContain('"denies" denied')
  })

  it('sees a sub-agent whole where it stands in both', async () => {
    const watch = onion()
    const inner = scene([calling(['dig']), 'Found.'], [watch], { name: 'digger', tools: [tool('dig')] }).agent
    const { agent } = scene([calling(['research']), 'ok'], [watch], { tools: [asks(inner)] })
    await agent.run('hi')
    expect(watch.toText(watch.turns()[1] ?? '')).toMatch(/loop[\s\S]*model · scripted\/model[\s\S]*tool · dig/)
  })
})

describe('observe.onion in a sub-agent and its parent', () => {
  it('shows innermost layers inside the others and outside the tool', async () => {
    const watch = onion()
    const passes = (name: string, more: Partial<Middleware>): Middleware => ({
      name,
      tool: (_, next) => next(),
      ...more,
    })
    const layers = [watch, passes('own', {}), passes('own-inner', { innermost: true })]
    const inner = scene([calling(['dig']), 'Found.'], layers, { name: 'digger', tools: [tool('dig')] }).agent
    const inherited = [passes('outer', { inherit: true }), passes('inner', { inherit: true, innermost: true })]
    const execute = async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, inner, 'dig'))?.text
    const { agent } = scene([calling(['research']), 'ok'], [watch, ...inherited], {
      tools: [tool('research', execute as never)],
    })
    await agent.run('hi')
    const order = /outer[\s\S]*own [\s\S]*inner[\s\S]*own-inner[\s\S]*─ dig/
    expect(watch.toText(watch.turns()[1] ?? '')).toMatch(order)
  })
})

describe('observe.onion: the page', () => {
  it('draws each layer with its time, its decision, and a bar', async () => {
    const clock = manualClock()
    const slow = async () => {
      await clock.advance(30)
      return 'hi'
    }
    const waits: Middleware = {
      name: 'waits',
      turn: async (_, next) => {
        await clock.advance(10)
        return next()
      },
    }
    const { session, watch } = watched([waits, model('brief', (ctx) => ctx.addSystemMessage('x'))], [slow], { clock })
    const { turnId } = await session.run('hi')
    const html = watch.toHTML(turnId)
    expect(html).toContain('<h1>Turn 1 of the session &quot;s&quot;, completed after 40.0 ms</h1>')
    expect(html).toContain('<li>&quot;brief&quot; changed the messages (1 → 2) of the model call.</li>')
    expect(html).toContain('<b>waits</b></td><td class="time">10.0 ms</td>')
    expect(html).toContain('>scripted/model</td><td class="time">30.0 ms</td>')
    expect(html).toContain('style="margin-left:25.00%;width:75.00%"')
  })

  it('loads nothing, runs nothing, and takes no text for HTML', async () => {
    const evil = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    for (const text of [evil, `'${evil}`, ...naughty]) {
      const broken: Middleware = { name: `layer ${text}`, tool: (ctx) => ctx.deny(text) }
      const { agent, watch } = watched([broken], [calling([text]), 'ok'])
      const { turnId } = await agent.run(text)
      const html = watch.toHTML(turnId)
      expect(html).not.toMatch(/<(?:script|img|link|iframe)|\son\w+=[^&]*>|url\(|src="|href="/i)
      expect(html.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
      expect(html).toContain(`default-src 'none'`)
    }
  })

  it('hides what looks like a credential in a reason or a message', async () => {
    const key = 'sk-proj-abcdefghijklmnop1234'
    const { session, watch } = watched([], [new Error(`bad key ${key}`)])
    await session.run('hi').settled()
    const turnId = watch.turns()[0] ?? ''
    expect(
      leaks([watch.timeline(turnId), watch.toHTML(turnId), watch.explain(turnId), watch.toText(turnId)], key),
    ).toEqual([])
    expect(watch.explain(turnId)).toContain('bad key [hidden]')
  })

  it('says of a turn that it does not keep', () => {
    expect(onion().toHTML('<x>')).toContain('<h1>Nothing is kept of the turn &quot;&lt;x&gt;&quot;.</h1>')
  })
})

import { describe, expect, it } from 'vitest'
import { inject } from '../src/context.ts'
import { capability, type Middleware } from '../src/index.ts'
import { build, failure, oneCall, tool, turn } from './kit.ts'

const Db = capability<{ find(): string }>('db')
const provider: Middleware = {
  name: 'provider',
  provides: [Db],
  async agent(ctx, next) {
    ctx.provide(Db, { find: () => 'row' })
    await next()
  },
}

describe('capabilities', () => {
  it('reach every scope inside, and tools', async () => {
    const seen: string[] = []
    const user: Middleware = {
      name: 'user',
      requires: [Db],
      async session(ctx, next) {
        seen.push(inject(ctx, Db).find())
        await next()
      },
      model(ctx, next) {
        seen.push(inject(ctx, Db).find())
        return next()
      },
    }
    await turn(oneCall, [provider, user], { tools: [tool('work', (_, ctx) => seen.push(inject(ctx, Db).find()))] })
    expect(seen).toEqual(['row', 'row', 'row', 'row'])
  })

  it('of a session are that session only', async () => {
    const User = capability<string>('user')
    const seen: string[] = []
    const layer: Middleware = {
      name: 'user',
      async session(ctx, next) {
        ctx.provide(User, ctx.sessionId)
        await next()
      },
      turn(ctx, next) {
        seen.push(inject(ctx, User))
        return next()
      },
    }
    const { agent } = build(['a', 'b'], [layer])
    await agent.session({ id: 'one' }).run('hi')
    await agent.session({ id: 'two' }).run('hi')
    expect(seen).toEqual(['one', 'two'])
  })

  it('that nobody provides fail with a typed error that names them', async () => {
    const { error } = await turn([], [(ctx) => void inject(ctx, Db)])
    expect(error).toMatchObject({ code: 'capability.missing', message: expect.stringContaining('"db"') })
  })

  it('are found where they are there, for who can do without', async () => {
    const seen: unknown[] = []
    const asks: Middleware = {
      name: 'asks',
      turn(ctx, next) {
        seen.push(ctx.find(Db)?.find())
        return next()
      },
    }
    await turn(['Hi'], [provider, asks])
    await turn(['Hi'], [asks])
    expect(seen).toEqual(['row', undefined])
  })

  it('count as missing if they are undefined', async () => {
    const Maybe = capability<string | undefined>('maybe')
    const { error } = await turn(
      ['ok'],
      [
        (ctx, next) => {
          ctx.provide(Maybe, undefined)
          inject(ctx, Maybe)
          return next()
        },
      ],
    )
    expect(error).toMatchObject({ code: 'capability.missing' })
  })

  it('are checked before the first run: required, but provided by nobody or further inside', async () => {
    const user: Middleware = { name: 'user', requires: [Db], turn: (_, next) => next() }
    const missing = await failure(build([], [user]).agent.init())
    expect(missing).toMatchObject({ code: 'layer.order', message: expect.stringMatching(/"user".*"db"/) })
    const inside = build([], [user, { ...provider, agent: undefined, turn: (_, next) => next() } as Middleware])
    expect((await failure(inside.agent.init())).message).toMatch(/"provider"/)
    await build([], [provider, user]).agent.init()
  })
})

// biome-ignore-all lint/correctness/noUnusedFunctionParameters: the samples stand as they are written
// The samples of the contract that Allium implements, as they are written there but for the import. What they leave
// open (a database, a cache, "...") stands around them.
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { Agent, type Message, type Middleware, type ModelResponse } from '../src/index.ts'
import { failure, oneCall, results, tool, turn } from './kit.ts'

describe('the interface', () => {
  const myMiddleware: Middleware = {
    name: 'my-middleware',
    // Optional: declare session state fields
    state: {
      'my:counter': { default: 0, reducer: (prev, delta) => prev + delta },
    },
    // Any subset of 5 hooks:
    agent: async (ctx, next) => {
      /* ... */ await next()
    },
    session: async (ctx, next) => {
      /* ... */ await next()
    },
    turn: async (ctx, next) => {
      /* ... */ await next()
    },
    model: async (ctx, next) => {
      /* ... */ return await next()
    },
    tool: async (ctx, next) => {
      /* ... */ return await next()
    },
  }

  it('runs with all five hooks and declares its state', async () => {
    const { result } = await turn(oneCall, [myMiddleware], { tools: [tool('work')] })
    expect([result?.text, result?.state]).toEqual(['done', { 'my:counter': 0 }])
  })
})

describe('the agent hook', () => {
  const log: string[] = []
  const connect = async (url: string) => {
    log.push(`open ${url}`)
    return { findUser: (email: string) => ({ id: 7, email }), close: async () => void log.push('close') }
  }

  const database: Middleware = {
    name: 'database',
    async agent(ctx, next) {
      // Read connection URL from middleware config
      const url = ctx.config.databaseUrl as string
      // Open connection before agent starts
      const db = await connect(url)
      // Register a tool that uses the connection
      ctx.registerTool({
        name: 'query_users',
        description: 'Look up users in the database',
        jsonSchema: { type: 'object', properties: { email: { type: 'string' } } },
        execute: async ({ email }) => db.findUser(email),
      })
      try {
        await next() // Agent is running, connection is open
      } finally {
        // Close connection when agent disposes
        await db.close()
      }
    },
  }

  it('opens at init with its config, serves its tool, and closes at dispose', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'query_users', args: { email: 'ada@example.com' }, callId: 'c' }] },
      'found',
    ])
    // Pass config when creating the agent
    const agent = new Agent({ name: 'demo', model, instructions: 'Be good.' }).use(database, {
      databaseUrl: 'postgres://localhost:5432/myapp',
    })
    await agent.init()
    expect(log).toEqual(['open postgres://localhost:5432/myapp'])
    expect((await agent.run('who is ada?')).text).toBe('found')
    expect(results(model.requests[1]!.messages).c).toBe('{"id":7,"email":"ada@example.com"}')
    expect(log).toHaveLength(1)
    await agent.dispose()
    expect(log[1]).toBe('close')
  })
})

describe('the session hook', () => {
  const rows = new Map<string, string>()
  const db = {
    loadSession: async (id: string): Promise<{ history: Message[]; state: object } | undefined> =>
      JSON.parse(rows.get(id) ?? 'null') ?? undefined,
    saveSession: async (id: string, data: object) => void rows.set(id, JSON.stringify(data)),
  }

  const persistence: Middleware = {
    name: 'persistence',
    async session(ctx, next) {
      // Restore previous conversation from storage
      const saved = await db.loadSession(ctx.sessionId)
      if (saved) {
        for (const msg of saved.history) ctx.history.push(msg)
        Object.assign(ctx.state, saved.state)
      }
      try {
        await next() // Session is running, turns execute here
      } finally {
        // Save conversation when session closes
        await db.saveSession(ctx.sessionId, {
          history: ctx.history,
          state: ctx.state,
        })
      }
    },
  }
  const counter: Middleware = {
    name: 'counter',
    state: { turns: { default: 0, reducer: (prev, delta) => prev + delta } },
    turn(ctx, next) {
      ctx.state.turns = 1
      return next()
    },
  }

  it('brings a conversation and its state back in another agent', async () => {
    const first = new Agent({ model: scriptedModel(['I will remember']) }).use(counter).use(persistence)
    const session = first.session({ id: 'talk' })
    await session.run('my name is Ada')
    expect(rows.size).toBe(0)
    await session.close()
    const model = scriptedModel(['You are Ada'])
    const second = new Agent({ model }).use(counter).use(persistence).session({ id: 'talk' })
    await second.run('who am I?')
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual([
      'my name is Ada',
      'I will remember',
      'who am I?',
    ])
    expect(second.state).toEqual({ turns: 2 })
  })
})

describe('the turn hook', () => {
  const lines: string[] = []
  const console = { log: (line: string) => lines.push(line.replace(/\d+ms/, 'Nms')) }

  const auditLog: Middleware = {
    name: 'audit-log',
    async turn(ctx, next) {
      const start = Date.now()
      // Check input before the turn runs
      const userMessage = ctx.input[ctx.input.length - 1]
      console.log(`[turn #${ctx.turnIndex}] User: ${userMessage?.content}`)
      await next()
      // Log result after the turn completes
      console.log(`[turn #${ctx.turnIndex}] Assistant: ${ctx.output}`)
      console.log(`[turn #${ctx.turnIndex}] Duration: ${Date.now() - start}ms`)
    },
  }

  it('prints input, output and time of each turn', async () => {
    const session = new Agent({ model: scriptedModel(['one', 'two']) }).use(auditLog).session()
    await session.run('first')
    await session.run('second')
    expect(lines).toEqual([
      ...['[turn #0] User: first', '[turn #0] Assistant: one', '[turn #0] Duration: Nms'],
      ...['[turn #1] User: second', '[turn #1] Assistant: two', '[turn #1] Duration: Nms'],
    ])
  })
})

describe('the model hook', () => {
  const store = new Map<string, ModelResponse>()
  const cache = {
    get: async (key: string) => store.get(key),
    set: async (key: string, response: ModelResponse) => void store.set(key, response),
  }

  const responseCache: Middleware = {
    name: 'response-cache',
    async model(ctx, next) {
      // Check cache before calling the LLM
      const key = JSON.stringify(ctx.messages)
      const cached = await cache.get(key)
      if (cached) return ctx.skipCall(cached) // Skip LLM, return cached response
      const response = await next() // LLM call happens here
      // Store response in cache after successful call
      await cache.set(key, response)
      return response
    },
  }

  it('answers the same messages from the cache', async () => {
    const model = scriptedModel(['expensive', 'other'])
    const agent = new Agent({ model }).use(responseCache)
    expect([(await agent.run('same')).text, (await agent.run('same')).text]).toEqual(['expensive', 'expensive'])
    expect((await agent.run('different')).text).toBe('other')
    model.done()
  })
})

describe('the tool hook', () => {
  const toolSanitizer: Middleware = {
    name: 'tool-sanitizer',
    async tool(ctx, next) {
      // Block dangerous tools
      if (ctx.tool.name === 'delete_all') {
        return ctx.deny('This tool is disabled by policy')
      }
      // Sanitize arguments before execution
      if (ctx.tool.name === 'send_email' && ctx.args.to) {
        ctx.modifyArgs({ ...ctx.args, to: ctx.args.to.toLowerCase() })
      }
      const result = await next() // Tool executes here
      return result
    },
  }

  it('denies delete_all and lower-cases the address of send_email', async () => {
    const ran: unknown[] = []
    const steps = [
      {
        toolCalls: [
          { name: 'delete_all', callId: 'a' },
          { name: 'send_email', callId: 'b', args: { to: 'ADA@Example.COM', body: 'Hi' } },
        ],
      },
      'done',
    ]
    const tools = [tool('delete_all', () => ran.push('deleted')), tool('send_email', (args) => ran.push(args))]
    const { session } = await turn(steps, [toolSanitizer], { tools })
    expect(ran).toEqual([{ to: 'ada@example.com', body: 'Hi' }])
    expect(results(session.history).a).toBe('This tool is disabled by policy')
  })
})

describe('use()', () => {
  const lines: string[] = []
  const console = { log: (line: string) => lines.push(line) }
  const named = (name: string): Middleware => ({
    name,
    turn: (_, next) => {
      lines.push(name)
      return next()
    },
  })
  const [middlewareA, middlewareB, middlewareC] = [named('A'), named('B'), named('C')]

  it('takes the four forms', async () => {
    const agent = new Agent({ model: scriptedModel(oneCall), tools: [tool('work')] })
    agent.use({
      name: 'my-middleware',
      turn: async (ctx, next) => {
        await next()
      },
      model: async (ctx, next) => {
        return await next()
      },
    })
    agent.use(async (ctx, next) => {
      console.log(`Turn ${ctx.turnIndex}`)
      await next()
    })
    agent.use('model', async (ctx, next) => {
      console.log(`Model call #${ctx.callIndex}`)
      return await next()
    })
    agent.use('tool', async (ctx, next) => {
      console.log(`Tool: ${ctx.tool.name}`)
      return await next()
    })
    agent.use([middlewareA, middlewareB, middlewareC])
    await agent.run('hi')
    expect(lines).toEqual(['Turn 0', 'A', 'B', 'C', 'Model call #0', 'Tool: work', 'Model call #1'])
  })
})

describe('the two phases', () => {
  it('act before the call and after it', async () => {
    const lines: string[] = []
    const console = { log: (line: string) => lines.push(line) }
    const phases: Middleware = {
      name: 'phases',
      async model(ctx, next) {
        // BEFORE: runs on the way IN (before the LLM call)
        ctx.addSystemMessage('Be helpful.')
        const response = await next()
        // AFTER: runs on the way OUT (after the LLM call)
        console.log(`Used ${response.usage.outputTokens} tokens`)
        return response
      },
    }
    const { model } = await turn([{ text: 'ok', usage: { inputTokens: 1, outputTokens: 17 } }], [phases])
    expect([lines, model.requests[0]?.messages[0]?.content]).toEqual([['Used 17 tokens'], 'Be helpful.'])
  })

  it('clean up in a finally', async () => {
    const log: string[] = []
    const connectToDatabase = async () => ({ close: async () => void log.push('closed') })
    const layer: Middleware = {
      name: 'connection',
      async agent(ctx, next) {
        const connection = await connectToDatabase()
        try {
          await next()
        } finally {
          await connection.close()
        }
      },
    }
    const agent = new Agent({ model: scriptedModel(['ok']) }).use(layer)
    await agent.run('hi')
    expect(log).toEqual([])
    await agent.dispose()
    expect(log).toEqual(['closed'])
  })

  it('go in by registration and out in reverse', async () => {
    const log: string[] = []
    const named = (name: string): Middleware => ({
      name,
      async turn(_, next) {
        log.push(`${name}.before`)
        await next()
        log.push(`${name}.after`)
      },
    })
    const [middlewareA, middlewareB, middlewareC] = [named('A'), named('B'), named('C')]
    const agent = new Agent({
      model: scriptedModel([
        () => {
          log.push('core')
          return 'ok'
        },
      ]),
    })
    agent.use(middlewareA) // A enters first, exits last
    agent.use(middlewareB) // B enters second, exits second
    agent.use(middlewareC) // C enters third, exits first
    await agent.run('hi')
    expect(log.join(' -> ')).toBe('A.before -> B.before -> C.before -> core -> C.after -> B.after -> A.after')
  })
})

describe('skipping', () => {
  const cache = new Map<string, ModelResponse>()
  const cacheMiddleware: Middleware = {
    name: 'cache',
    async model(ctx, next) {
      const key = JSON.stringify(ctx.messages)
      const cached = cache.get(key)
      if (cached) {
        ctx.skipCall(cached)
        return cached
      }
      const response = await next()
      cache.set(key, response)
      return response
    },
  }

  it('with skipCall and the response returned does the same', async () => {
    const agent = new Agent({ model: scriptedModel(['once']) }).use(cacheMiddleware)
    expect([(await agent.run('q')).text, (await agent.run('q')).text]).toEqual(['once', 'once'])
  })

  const safeguard: Middleware = {
    name: 'safeguard',
    async tool(ctx, next) {
      if (ctx.tool.name === 'dangerous_operation') {
        ctx.deny('This operation is not allowed')
        return next() // deny sets the result, next() respects it
      }
      return next()
    },
  }

  it('by deny and next() keeps the tool from running', async () => {
    let ran = 0
    const steps = [
      {
        toolCalls: [
          { name: 'dangerous_operation', callId: 'a' },
          { name: 'work', callId: 'b' },
        ],
      },
      'done',
    ]
    const { session } = await turn(steps, [safeguard], {
      tools: [tool('dangerous_operation', () => ran++), tool('work')],
    })
    expect([ran, results(session.history)]).toEqual([0, { a: 'This operation is not allowed', b: 'worked' }])
  })

  it('by abort stops a turn that asks for a shutdown, and lets others through', async () => {
    const emergency: Middleware = {
      name: 'emergency',
      async turn(ctx, next) {
        if (ctx.input.some((m) => typeof m.content === 'string' && m.content.includes('shutdown'))) {
          ctx.abort('Emergency shutdown requested')
        }
        await next()
      },
    }
    const session = new Agent({ model: scriptedModel(['hello']) }).use(emergency).session()
    expect(await failure(session.run('please shutdown now'))).toMatchObject({
      name: 'AbortError',
      reason: 'Emergency shutdown requested',
    })
    expect((await session.run('hi')).text).toBe('hello')
  })
})

describe('state', () => {
  const costTracker: Middleware = {
    name: 'cost-tracker',
    state: {
      'cost:total': {
        default: 0,
        reducer: (prev, delta) => prev + delta, // additive
      },
      'cost:calls': {
        default: [],
        reducer: (prev, delta) => [...prev, ...delta], // append
      },
    },
    async model(ctx, next) {
      const response = await next()
      ctx.state['cost:total'] = 0.003 // dispatches through reducer: 0 + 0.003
      ctx.state['cost:calls'] = [{ model: ctx.model }]
      return response
    },
  }

  it('adds and appends through its reducers, over steps and turns', async () => {
    const agent = new Agent({ model: scriptedModel([...oneCall, 'again']), tools: [tool('work')] }).use(costTracker)
    const session = agent.session()
    await session.run('1')
    const { state } = await session.run('2')
    expect(state).toEqual({
      'cost:total': expect.closeTo(0.009),
      'cost:calls': Array.from({ length: 3 }, () => ({ model: 'scripted/model' })),
    })
  })
})

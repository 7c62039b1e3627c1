import { defineConfig } from '../src/index.ts'

// Each hook's context is its own.
defineConfig({
  agent: {
    model: 'openai/gpt-5',
    thinking: 'low',
    use: ['observe.usage', { 'guard.budget': { limit: 1 } }, { name: 'mine', turn: (_ctx, next) => next() }],
    middleware: {
      beforeToolExecution: [(ctx) => ctx.toolCall.name === 'rm' && ctx.deny('no')],
      onStreamChunk: [(ctx) => ctx.chunk.type === 'text' && ctx.chunk.delta.length],
      afterToolExecution: ['./audit.ts', { run: (ctx) => void (ctx.result.content += '!'), policy: true, timeout: 5 }],
      onError: [
        { run: 'shell: pager', env: ['TOKEN'] },
        { run: 'shell: pager', env: { TOKEN: true, MODE: 'x' } },
      ],
    },
  },
  toolTimeout: 5_000,
})

// @ts-expect-error: there is no such hook
defineConfig({ agent: { middleware: { beforeTool: [] } } })
// @ts-expect-error: only beforeToolExecution has a call to refuse
defineConfig({ agent: { middleware: { beforeModelCall: [(ctx) => ctx.deny('no')] } } })
// @ts-expect-error: no such depth of thinking
defineConfig({ agent: { thinking: 'deep' } })
// @ts-expect-error: hooks are lists
defineConfig({ agent: { middleware: { onError: './a.ts' } } })

// In a process of its own, which has kept no place yet: prints the stack of a mistake in a layer.
import { build } from './kit.ts'

const { agent } = build(['hi'])
agent.use({
  name: 'floats',
  turn(_: unknown, next: () => Promise<void>) {
    void next()
  },
})
const error = (await agent.run('go').then(undefined, (error) => error)) as Error
console.log(error.stack)

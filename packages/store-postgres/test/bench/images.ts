import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Agent, type Input, type SessionStore } from '@allium/core'
import { persist } from '@allium/memory'
import { scriptedModel } from '@allium/testing'

/** What a turn took: CPU, and the longest time that nothing else got its turn, in milliseconds. */
export interface Taken {
  readonly cpu: number
  readonly held: number
}

/** A turn of one model call, in a session of its own, whose input has an image of so many bytes. */
export async function turnWithImage(store: SessionStore, bytes: number, id: string): Promise<Taken> {
  const model = scriptedModel(['A cat on a chair.'])
  const agent = new Agent({ model, logger: { warn() {}, error: console.error } }).use(persist({ store }))
  await agent.init()
  const session = agent.session({ id, principal: { tenantId: 'acme', userId: id } })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const input = inputWith(bytes)
  const begun = process.cpuUsage()
  delay.enable()
  const { status } = await session.run(input)
  delay.disable()
  const { user, system } = process.cpuUsage(begun)
  if (status !== 'completed') throw new Error(`A turn was ${status}.`)
  await session.close()
  return { cpu: (user + system) / 1000, held: delay.max / 1e6 }
}

function inputWith(bytes: number): Input {
  if (bytes === 0) return 'What is this?'
  // Different ones each time: a store keeps the same bytes of an owner once.
  const data = crypto.getRandomValues(new Uint8Array(1024))
  const image = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 1024) image.set(data.subarray(0, bytes - at), at)
  return { role: 'user', content: [{ type: 'image', data: image, mediaType: 'image/png' }] }
}

import { asks, found, type scene } from '../recall/scene.ts'

export const alpaca = 'News: the alpaca got new hay.'
export const car = 'News: the automobile was in the garage.'
export const question = 'news vehicle repair'

/** By the tool, and by itself. */
export const bothWays = [undefined, 'turn'] as const

type Scene = Pick<ReturnType<typeof scene>, 'chat'>

/** Two conversations whose words fit the question equally well. The newer one comes first then. */
export async function remember({ chat }: Scene): Promise<void> {
  await chat('car', [car], ['Ok.'])
  await chat('alpaca', [alpaca], ['Ok.'])
}

/** Asks by the tool. */
export async function ask({ chat }: Scene, id = 'today') {
  return (await chat(id, ['?'], [asks(question), 'Ok.'])).result
}

/** Asks in one of both ways, and returns what was recalled. */
export async function today(world: Scene, every: 'turn' | undefined) {
  if (every === undefined) {
    const result = await ask(world)
    return { result, recalled: found(result) }
  }
  const { result, requests } = await world.chat('today', [question], ['Ok.'])
  const [, ...lines] = String(requests[0]?.[0]?.content).split('\n')
  return { result, recalled: lines.map((line) => JSON.parse(line).text as string) }
}

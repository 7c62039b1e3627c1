import type { Model, ModelRequest } from 'allium'
import { scriptedModel } from 'allium/testing'

/** Returns the real model if its key is set, and a scripted one otherwise. */
export function chooseModel(env: NodeJS.ProcessEnv): { model: Model | string; note: string } {
  if (env.OPENAI_API_KEY) return { model: 'openai/gpt-5-mini', note: 'openai/gpt-5-mini' }
  return { model: demoModel, note: 'a script, because OPENAI_API_KEY is not set' }
}

/** Plays a model without a network: it looks up the time in the city that the user names. */
const demoModel: Model = {
  id: 'openai/gpt-5-mini', // so that the layers count its price
  stream: (request) => scriptedModel([reply(request)]).stream(request),
}

function reply({ messages }: ModelRequest) {
  const content = messages.at(-1)?.content ?? ''
  const result = typeof content === 'string' ? undefined : content.find((part) => part.type === 'tool-result')
  if (result === undefined) return callFor(JSON.stringify(content), JSON.stringify(messages[0]))
  if (result.isError) return `This is a scripted answer: the tool failed with "${result.content}"`
  const { zone, time } = JSON.parse(String(result.content))
  return `This is a scripted answer: it is ${time} in ${zone}.`
}

function callFor(question: string, instructions: string) {
  const zone = zoneIn(question) ?? (instructions.includes('nearby') ? zoneNear(question) : undefined)
  if (zone === undefined) return 'This is a scripted answer. Try "What time is it in Tokyo?"'
  return { toolCalls: [{ name: 'time_in', callId: crypto.randomUUID(), args: { zone } }] }
}

/** Returns the time zone of a city that has none of its own. Like a model, the script only does so if the instructions say it. */
function zoneNear(text: string): string | undefined {
  return Object.entries(zonesNearby).find(([city]) => text.includes(city))?.[1]
}

const zonesNearby = {
  Munich: 'Europe/Berlin',
  Hamburg: 'Europe/Berlin',
  Milan: 'Europe/Rome',
  Barcelona: 'Europe/Madrid',
  Geneva: 'Europe/Zurich',
  Manchester: 'Europe/London',
  Osaka: 'Asia/Tokyo',
  Mumbai: 'Asia/Kolkata',
  Boston: 'America/New_York',
  'San Francisco': 'America/Los_Angeles',
  Seattle: 'America/Los_Angeles',
}

/** Returns the time zone of a city in the text, such as Asia/Tokyo for "What time is it in Tokyo?". */
function zoneIn(text: string): string | undefined {
  const cityOf = (zone: string) => zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')
  return Intl.supportedValuesOf('timeZone').find((zone) => text.includes(cityOf(zone)))
}

import { AlliumError } from '../errors/allium-error.ts'
import { describe, messageOf } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import { checkMessage } from '../messages/check-messages.ts'
import { copyMessage } from '../messages/json.ts'
import type { FilePart, ImagePart, Message, TextPart } from '../messages/message.ts'

/** The input of `run.steer()`: a user message. */
export type SteerInput = string | readonly (TextPart | ImagePart | FilePart)[] | (Message & { role: 'user' })

export interface SteerOptions {
  /** The id in the run's events. @default an id of the turn */
  id?: string | undefined
}

const ofSteer: KeysOf<SteerOptions> = { id: true }
const ofUser: ReadonlySet<string> = new Set(['text', 'image', 'file'])

/** @throws AlliumError `run.options` */
export function checkSteerOptions(options: SteerOptions): SteerOptions {
  checkOptions(options, ofSteer, 'steer()', 'run.options')
  const { id } = options
  if (id !== undefined && (typeof id !== 'string' || id === ''))
    throw new AlliumError('run.options', `The id of a steered message must be a string, not ${describe(id)}.`)
  return { id }
}

/** Returns a copy of the message. @throws AlliumError `run.options` */
export function toSteered(input: SteerInput): Message {
  const given: unknown = typeof input === 'string' || Array.isArray(input) ? { role: 'user', content: input } : input
  try {
    checkMessage(given, 'The message of steer()')
  } catch (error) {
    throw new AlliumError('run.options', messageOf(error), { cause: error })
  }
  const { role, content } = given
  if (role !== 'user') throw refused(`a message of the role "${role}"`)
  if (content.length === 0) throw refused('an empty message')
  const foreign = typeof content === 'string' ? undefined : content.find(({ type }) => !ofUser.has(type))
  if (foreign !== undefined) throw refused(`a part of the type "${foreign.type}"`)
  return copyMessage(given)
}

function refused(what: string): AlliumError {
  return new AlliumError(
    'run.options',
    `steer() takes a user message, a string or parts of text, images and files, but got ${what}. Pass instructions and tool results to the agent or to run().`,
  )
}

/** How far the answer of a turn has come, and so where later content belongs. */
export type Phase =
  /** The answer passes through the turn's layers, or there is none yet. */
  | 'streaming'
  /** It has passed all layers, and their pipes have ended. */
  | 'flushed'
  /** It is in the history, and tool calls or a message follow. */
  | 'followed'
  /** There will be no other answer. The pipes may still hold content of this one, until their layers return. */
  | 'returning'
  /** The same after a flush. Later content goes through fresh pipes and is appended to the answer. */
  | 'appending'
  /** The same after tool calls or a message. Later content is a separate answer. */
  | 'separate'

/**
 * `begin`: a new answer begins. `flush`: the pipes have ended. `follow`: it is in the history and is not the last one.
 * `end`: the loop has ended. `give`: a layer has set an answer of its own.
 */
export type AnswerEvent = 'begin' | 'flush' | 'follow' | 'end' | 'give'

/** The phase after each event. An event that is not listed changes nothing. */
export const transitions: Record<Phase, Partial<Record<AnswerEvent, Phase>>> = {
  streaming: { flush: 'flushed', follow: 'followed', end: 'returning', give: 'returning' },
  flushed: { begin: 'streaming', follow: 'followed', end: 'appending', give: 'returning' },
  followed: { begin: 'streaming', end: 'separate' },
  // The loop may be abandoned during its flush, which then ends late.
  returning: { begin: 'streaming', flush: 'appending' },
  appending: { begin: 'streaming', give: 'returning' },
  separate: { begin: 'streaming' },
}

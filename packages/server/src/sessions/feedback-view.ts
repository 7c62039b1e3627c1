import type { Feedback } from '@allium/store'

/** A feedback as its author reads it. */
export interface FeedbackView extends Pick<Feedback, 'score' | 'comment' | 'tags' | 'at'> {
  /** The run, which is also the id of the answer while it streams. */
  readonly turnId: string
  /** The id of the answer in the list of messages; undefined until the run is stored. */
  readonly messageId?: string | undefined
}

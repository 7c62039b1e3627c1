import type { ReplayDifference, ReplayedTurn } from '@allium/replay/replay'

/** What differs from the recorded turn, besides the code: the replay always runs the files as they are now. */
export type ReplayChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'without'; readonly layer: string }
  /** Another agent of the module, such as one whose layers have other options: the name of its export. */
  | { readonly kind: 'export'; readonly name: string }
  | { readonly kind: 'move'; readonly layer: string; readonly to: 'outside' | 'inside'; readonly of: string }

/** A turn to replay, and the change. */
export interface ReplayRequest {
  readonly tenant: string
  readonly owner: string
  readonly sessionId: string
  readonly turnId: string
  readonly change: ReplayChange
}

/** A replayed turn for the page. Long lists are cut. */
export interface ReplayView
  extends Pick<ReplayedTurn, 'verdict' | 'reason' | 'lanes' | 'divergedAt' | 'differences' | 'requests' | 'notes'> {
  /** How many lanes and differences were left out. */
  readonly leftOut: number
}

/** Most lanes of a turn, and most differences, that the page gets. */
const maxShown = 300

export function replayView({
  verdict,
  reason,
  lanes,
  divergedAt,
  differences,
  requests,
  notes,
}: ReplayedTurn): ReplayView {
  const shown = { lanes: lanes.slice(0, maxShown), differences: cut(differences), requests: cut(requests) }
  const all = lanes.length + differences.length + requests.length
  const leftOut = all - shown.lanes.length - shown.differences.length - shown.requests.length
  return { verdict, reason, divergedAt, notes: notes.slice(0, 50), ...shown, leftOut }
}

function cut(differences: readonly ReplayDifference[]): readonly ReplayDifference[] {
  return differences.slice(0, maxShown)
}

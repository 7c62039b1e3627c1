import type { Feedback, FeedbackStore } from '@allium/store'

/** A feedback on a turn of a session, for the page. */
export interface FeedbackItem extends Pick<Feedback, 'by' | 'score' | 'comment' | 'tags' | 'at'> {
  readonly turnId: string
}

/** The route of the page that lists the feedback of all people on a session. */
const path = '/api/inspector/feedback'

/** Most feedback that the page shows, the newest. */
const limit = 200

/** Answers a request for the feedback of a session; undefined for another path. */
export async function feedbackRoute(
  request: Request,
  { store, agent }: { readonly store: Pick<FeedbackStore, 'list'>; readonly agent: string },
): Promise<Response | undefined> {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname !== path || request.method !== 'GET') return undefined
  const of = (name: string) => searchParams.get(name) ?? ''
  const session = { tenant: of('tenant'), owner: of('owner'), sessionId: of('session') }
  const { items } = await store.list({ agent, ...session, limit })
  const feedback = items.map(({ run: { turnId }, by, score, comment, tags, at }): FeedbackItem => {
    return { turnId, by, score, comment, tags, at }
  })
  return Response.json({ feedback })
}

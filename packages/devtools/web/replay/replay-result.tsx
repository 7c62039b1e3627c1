import type { ReplayView } from '../../src/replay-change.ts'
import { count, pretty } from '../parts/format.ts'

type Difference = ReplayView['differences'][number]

/** A replayed turn beside the recorded one: two lanes, the differences that count, and those of requests. */
export function ReplayResult({ view }: { view: ReplayView }) {
  const { lanes, divergedAt, differences, requests, notes, leftOut } = view
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="finding warn">
          {pretty(note)}
        </p>
      ))}
      {lanes.length > 0 && <Lanes lanes={lanes} divergedAt={divergedAt} />}
      <h2>{count(differences.length, 'difference')}</h2>
      {differences.length === 0 && <p class="subject">None in the outcome and in the decisions.</p>}
      <Differences differences={differences} />
      <h2>{`${count(requests.length, 'difference')} of requests`}</h2>
      <p class="subject">They do not count: the model's answers are the recorded ones.</p>
      <Differences differences={requests} />
      {leftOut > 0 && <p class="subject">{`${leftOut.toLocaleString()} more are not shown.`}</p>}
    </>
  )
}

function Lanes({ lanes, divergedAt }: Pick<ReplayView, 'lanes' | 'divergedAt'>) {
  return (
    <table class="replay-lanes">
      <caption>Steps of the turn, as recorded and as replayed</caption>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Recorded</th>
          <th scope="col">Replayed</th>
        </tr>
      </thead>
      <tbody>
        {lanes.map(({ step, recorded, replayed, differs }, index) => (
          <tr key={index} class={differs ? 'differs' : ''}>
            <th scope="row">
              {pretty(step)}
              {index === divergedAt && <strong class="badge changed">diverged here</strong>}
            </th>
            <td>{textOf(recorded)}</td>
            <td>{textOf(replayed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Differences({ differences }: { differences: readonly Difference[] }) {
  return (
    <ul class="gates">
      {differences.map(({ kind, step, field, layer, recorded, replayed }, index) => (
        <li key={index} class="change replayed">
          <span class={`badge ${kind === 'request' ? '' : 'changed'}`}>{kind}</span> <strong>{pretty(step)}</strong>{' '}
          {pretty(field)}
          {layer !== undefined && <span class="subject">{` by ${pretty(layer)}`}</span>}
          <pre class="removed" tabIndex={0}>
            {textOf(recorded)}
          </pre>
          <pre class="added" tabIndex={0}>
            {textOf(replayed)}
          </pre>
        </li>
      ))}
    </ul>
  )
}

function textOf(value: string | undefined): string {
  return value === undefined ? 'none' : pretty(value)
}

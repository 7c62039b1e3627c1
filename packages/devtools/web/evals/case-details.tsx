import { useState } from 'preact/hooks'
import type { CaseView, TrialScore, TrialView } from '../../src/eval-views.ts'
import { count, duration, pretty } from '../parts/format.ts'
import { useCase } from './use-evals.ts'
import { plain } from './words.ts'

/** A case: each of its trials beside the same trial of the baseline. */
export function CaseDetails({ name, id, close }: { name: string; id: string; close(): void }) {
  const { data, fault } = useCase(name, id)
  const [trial, setTrial] = useState(0)
  return (
    <section class="details" aria-label="Case">
      <header>
        <h2>{pretty(id)}</h2>
        {data !== undefined && data.trials.length > 1 && (
          <label>
            Trial{' '}
            <select value={trial} onChange={({ currentTarget }) => setTrial(Number(currentTarget.value))}>
              {data.trials.map(({ status }, index) => (
                <option key={index} value={index}>{`${index + 1} · ${status}`}</option>
              ))}
            </select>
          </label>
        )}
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </header>
      {fault !== undefined && <p class="fault">{pretty(fault)}</p>}
      {data !== undefined && <Trials data={data} trial={trial} />}
    </section>
  )
}

function Trials({ data, trial }: { data: CaseView; trial: number }) {
  const [now, before] = [data.trials[trial], data.before[trial]]
  if (now === undefined) return <p class="empty">This case has no such trial.</p>
  return (
    <div class="details-body" tabIndex={0} role="group" aria-label="Trial">
      {data.isEdited && (
        <p class="finding warn">
          The baseline has this case with another input or expected answer. They are not compared.
        </p>
      )}
      <Scores now={now.scores} before={before?.scores} />
      <div class="lanes">
        <Lane title="This report" trial={now} />
        {before !== undefined && <Lane title="Baseline" trial={before} />}
      </div>
    </div>
  )
}

function Scores({ now, before }: { now: readonly TrialScore[]; before: readonly TrialScore[] | undefined }) {
  return (
    <table>
      <thead>
        <tr>
          {['Scorer', 'Score', ...(before === undefined ? [] : ['Baseline'])].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {now.map((score) => (
          <tr key={score.scorer}>
            <th scope="row">
              {pretty(score.scorer)}
              {score.reason !== undefined && <div class="subject">{pretty(score.reason)}</div>}
            </th>
            <td>{scoreText(score)}</td>
            {before !== undefined && <td>{scoreText(before.find(({ scorer }) => scorer === score.scorer))}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function scoreText(given: TrialScore | undefined): string {
  if (given === undefined) return 'none'
  if (given.invalid !== undefined) return `invalid: ${pretty(given.invalid)}`
  const shown = given.score ?? given.value
  return shown === undefined ? 'none' : plain(shown)
}

function Lane({ title, trial }: { title: string; trial: TrialView }) {
  const { status, reason, text, calls, decisions, duration: time, steps } = trial
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <p class="subject">
        <span class={`badge ${status}`}>{pretty(status)}</span> {`${duration(time)}, ${count(steps, 'step')}`}
        {reason !== undefined && <span class="reason">{` ${pretty(reason)}`}</span>}
      </p>
      <div class="label">Answer</div>
      <pre tabIndex={0}>{text === '' ? 'none' : pretty(text)}</pre>
      <div class="label">{count(calls.length, 'tool call')}</div>
      {calls.map(({ name, args, status: of, content }, index) => (
        <details key={index} class="card">
          <summary>
            <span class="tool-name">{pretty(name)}</span> <code class="args">{pretty(args)}</code>
            <span class={`badge ${of}`}>{pretty(of)}</span>
          </summary>
          <pre tabIndex={0}>{pretty(content)}</pre>
        </details>
      ))}
      <div class="label">Decisions</div>
      {decisions.length === 0 && <p class="subject">No layer decided anything.</p>}
      <ul class="decisions">
        {decisions.map(({ layer, decision, tool, reason: why }, index) => (
          <li key={index}>
            <strong>{pretty(layer)}</strong> <span class={`badge ${decision}`}>{pretty(decision)}</span>
            {tool !== undefined && ` ${pretty(tool)}`}
            {why !== undefined && <span class="subject">{` ${pretty(why)}`}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Counters in the text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export class Metrics {
  readonly #requests = new Map<string, number>()
  readonly #runs = new Map<string, number>()
  #seconds = 0
  readers = 0

  request(route: string, status: number, seconds: number): void {
    increment(this.#requests, `{route="${route}",status="${status}"}`)
    this.#seconds += seconds
  }

  run(status: string): void {
    increment(this.#runs, `{status="${status}"}`)
  }

  /** @param activeRuns number of active runs */
  text(activeRuns: number): string {
    const requests = [...this.#requests.values()].reduce((sum, count) => sum + count, 0)
    return [
      ...family('allium_http_requests_total', 'counter', this.#requests),
      ...family('allium_http_request_seconds_sum', 'counter', new Map([['', this.#seconds]])),
      ...family('allium_http_request_seconds_count', 'counter', new Map([['', requests]])),
      ...family('allium_runs_total', 'counter', this.#runs),
      ...family('allium_runs_active', 'gauge', new Map([['', activeRuns]])),
      ...family('allium_stream_readers', 'gauge', new Map([['', this.readers]])),
      '',
    ].join('\n')
  }
}

function increment(counts: Map<string, number>, labels: string): void {
  counts.set(labels, (counts.get(labels) ?? 0) + 1)
}

function family(name: string, type: string, samples: ReadonlyMap<string, number>): string[] {
  return [`# TYPE ${name} ${type}`, ...[...samples].map(([labels, value]) => `${name}${labels} ${value}`)]
}

/** Runs a generator to its end: what it told, and its result. */
export async function told<Event, Result>(
  run: AsyncGenerator<Event, Result>,
): Promise<{ readonly events: readonly Event[]; readonly result: Result }> {
  const events: Event[] = [];
  for (;;) {
    const next = await run.next();
    if (next.done === true) return { events, result: next.value };
    events.push(next.value);
  }
}

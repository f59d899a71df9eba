/** A workflow was defined in a way that cannot work. Thrown while `defineWorkflow` runs, before anything is sent. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  /** What to do instead. */
  readonly remedy: string;

  constructor(problem: string, remedy: string) {
    super(`${problem}: ${remedy}`);
    this.remedy = remedy;
  }
}

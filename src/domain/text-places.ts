/** Finds the places in a document's text at which parts of it stand. */

/** A JSON Pointer as its steps: keys of mappings, places in lists. */
export type Steps = readonly (string | number)[];

/** Where a part of a document stands, as offsets in its text. */
export interface Place {
  /** The key of a member; null for an item of a list, and for the document itself. */
  key: number | null;
  value: number;
  /** Where the value ends. JSON alone has it. */
  end?: number;
}

/** Parts of a document whose places are looked for, all in one walk through it. */
export class WantedPlaces {
  /** Set when the part has been found. */
  place: Place | null = null;
  private readonly parts = new Map<string | number, WantedPlaces>();

  /** Wants a part, and gives what will hold its place. */
  want(steps: Steps): WantedPlaces {
    let wanted: WantedPlaces = this;
    for (const step of steps) {
      const next = wanted.parts.get(step) ?? new WantedPlaces();
      wanted.parts.set(step, next);
      wanted = next;
    }
    return wanted;
  }

  /** What is wanted of a member or an item; undefined if it is nothing. */
  in(step: string | number): WantedPlaces | undefined {
    return this.parts.get(step);
  }

  /** Says that all parts of this one stand at the same place, as those of an alias do. */
  fill(place: Place): void {
    for (const part of this.parts.values()) {
      part.place = place;
      part.fill(place);
    }
  }
}

/** Turns offsets in a text into lines and columns. */
export class LineIndex {
  /** The offset at which each line starts. */
  private readonly starts = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1);
  }

  /** Line and column, both from 1. */
  at(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.starts[low] as number) + 1 };
  }
}

// SPDX-License-Identifier: MIT
// What the other modules use of later editions of JavaScript than the fifth, which is that of Duktape; build.mjs
// turns syntax into that of ES5. Time stands still and no number is random, so that the same data give the same
// bytes.
/* eslint-disable no-extend-native */

function define(object, methods) {
    for (const name of Object.keys(methods))
        if (object[name] === undefined)
            Object.defineProperty(object, name, { value: methods[name], writable: true, configurable: true });
}

// ---- arrays ----

// Sort in place; what is equal stays in order, as in ES2019.
function sortStably(compare) {
    const order =
        compare || ((a, b) => (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0));
    let from = Array.prototype.slice.call(this);
    let to = new Array(from.length);
    for (let width = 1; width < from.length; width *= 2) {
        for (let begin = 0; begin < from.length; begin += 2 * width) {
            const middle = Math.min(begin + width, from.length);
            const end = Math.min(begin + 2 * width, from.length);
            let [i, j] = [begin, middle];
            for (let k = begin; k < end; k++)
                to[k] = j >= end || (i < middle && order(from[i], from[j]) <= 0) ? from[i++] : from[j++];
        }
        [from, to] = [to, from];
    }
    for (let i = 0; i < from.length; i++) this[i] = from[i];
    return this;
}

Array.prototype.sort = sortStably;

define(Array, {
    from(source, map) {
        const list = [];
        if (source.forEach) source.forEach((one) => list.push(one));
        else for (let i = 0; i < source.length; i++) list.push(source[i]);
        return map ? list.map((one, i) => map(one, i)) : list;
    },
});

define(Array.prototype, {
    at(i) {
        return this[i < 0 ? this.length + i : i];
    },
    fill(value, begin = 0, end = this.length) {
        for (let i = begin; i < end; i++) this[i] = value;
        return this;
    },
    find(test) {
        for (let i = 0; i < this.length; i++) if (test(this[i], i, this)) return this[i];
        return undefined;
    },
    findIndex(test) {
        for (let i = 0; i < this.length; i++) if (test(this[i], i, this)) return i;
        return -1;
    },
    flat() {
        return [].concat.apply([], this);
    },
    flatMap(map) {
        return [].concat.apply([], this.map(map));
    },
    includes(value) {
        return this.indexOf(value) >= 0;
    },
});

// ---- objects, numbers and texts ----

define(Object, {
    assign(to, ...from) {
        for (const one of from) for (const key of Object.keys(one || {})) to[key] = one[key];
        return to;
    },
    entries: (object) => Object.keys(object).map((key) => [key, object[key]]),
    fromEntries(entries) {
        const object = {};
        for (const [key, value] of entries) object[key] = value;
        return object;
    },
    values: (object) => Object.keys(object).map((key) => object[key]),
});

define(Number, {
    isInteger: (value) => typeof value === "number" && isFinite(value) && Math.floor(value) === value,
    isNaN: (value) => typeof value === "number" && value !== value,
    parseInt,
});

define(Math, { log10: (x) => Math.log(x) / Math.LN10 });

define(String.prototype, {
    endsWith(end) {
        return this.slice(-end.length) === end || end === "";
    },
    includes(part) {
        return this.indexOf(part) >= 0;
    },
    padStart(length, filling) {
        let text = String(this);
        while (text.length < length) text = filling + text;
        return text;
    },
    replaceAll(part, other) {
        return this.split(part).join(other);
    },
    startsWith(begin) {
        return this.slice(0, begin.length) === begin;
    },
});

// ---- maps and sets, in the order in which keys were added ----

const ID = "\u0000collwire"; // a property of objects that are keys
let ids = 0;

// A text that differs between keys.
function textOf(key) {
    if (typeof key === "string") return `$${key}`;
    if (typeof key !== "object" || key === null) return `${typeof key} ${key}`;
    if (!key[ID]) Object.defineProperty(key, ID, { value: ++ids });
    return `# ${key[ID]}`;
}

function each(source, take) {
    if (source === undefined || source === null) return;
    if (source.forEach) source.forEach((one) => take(one));
    else for (let i = 0; i < source.length; i++) take(source[i]);
}

// The iterator of a list, as loops over maps and sets ask for it.
function iterate(list) {
    let i = 0;
    return { next: () => (i < list.length ? { value: list[i++], done: false } : { value: undefined, done: true }) };
}

// `list` has the entries; `places` says where one is, by the text of its key.
function Map(entries) {
    this.places = Object.create(null);
    this.list = [];
    each(entries, ([key, value]) => this.set(key, value));
}

define(Map.prototype, {
    delete(key) {
        if (!this.has(key)) return false;
        const left = this.list.filter((_, i) => i !== this.places[textOf(key)]);
        Map.call(this, left);
        return true;
    },
    entries() {
        return this.list.slice();
    },
    forEach(take) {
        for (const [key, value] of this.list.slice()) take(value, key, this);
    },
    get(key) {
        const place = this.places[textOf(key)];
        return place === undefined ? undefined : this.list[place][1];
    },
    has(key) {
        return this.places[textOf(key)] !== undefined;
    },
    keys() {
        return this.list.map((entry) => entry[0]);
    },
    set(key, value) {
        const text = textOf(key);
        if (this.places[text] === undefined) this.places[text] = this.list.push([key, value]) - 1;
        else this.list[this.places[text]][1] = value;
        return this;
    },
    values() {
        return this.list.map((entry) => entry[1]);
    },
});

function Set(values) {
    this.map = new Map();
    each(values, (value) => this.add(value));
}

define(Set.prototype, {
    add(value) {
        this.map.set(value, true);
        return this;
    },
    forEach(take) {
        this.map.keys().forEach((value) => take(value, value, this));
    },
    has(value) {
        return this.map.has(value);
    },
    values() {
        return this.map.keys();
    },
});

for (const [kind, list] of [
    [Map, (map) => map.list],
    [Set, (set) => set.map.list],
])
    Object.defineProperty(kind.prototype, "size", {
        get() {
            return list(this).length;
        },
    });
Map.prototype[Symbol.iterator] = function entries() {
    return iterate(this.list);
};
Set.prototype[Symbol.iterator] = function values() {
    return iterate(this.map.keys());
};

globalThis.Map = Map;
globalThis.Set = Set;

// ---- what differs from run to run ----

globalThis.setTimeout = () => 0; // ECharts draws later only what moves
globalThis.clearTimeout = () => {};
Math.random = () => 0.5;

const RealDate = Date;
function StoppedDate(...parts) {
    return parts.length ? new RealDate(parts[0]) : new RealDate(0);
}
StoppedDate.prototype = RealDate.prototype;
StoppedDate.now = () => 0;
globalThis.Date = StoppedDate;

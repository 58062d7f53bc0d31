//! The letters that a page draws, each with its place.

use std::sync::Arc;

use hayro_cmap::BfString;
use hayro_font::hayro_syntax::content::TypedIter;
use hayro_font::hayro_syntax::content::ops::TypedInstruction;
use hayro_font::hayro_syntax::object::dict::keys::{ACTUAL_TEXT, FORM, MATRIX, RESOURCES, SUBTYPE};
use hayro_font::hayro_syntax::object::{Dict, Name, Object, Stream, String as PdfString};
use hayro_font::hayro_syntax::page::{Page, Resources};
use hayro_font::kurbo::{Affine, Point};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, StandardFont, UNITS_PER_EM};

use super::layout::{Drawn, Layout};
use super::span::Span;

/// Forms within forms that are followed.
const DEEPEST: usize = 16;
/// Graphics states that are kept.
const MAX_STATES: usize = 512;

/// Reads the pages of one PDF.
pub struct PdfReader<'a> {
    cache: FontCache<'a>,
    fonts: FontResolverFn,
    cmaps: CMapResolverFn,
}

impl Default for PdfReader<'_> {
    fn default() -> Self {
        let fonts: FontResolverFn = Arc::new(|query| {
            Some(match query {
                FontQuery::Standard(font) => font.get_font_data(),
                FontQuery::Fallback(font) => font.pick_standard_font().get_font_data(),
            })
        });
        PdfReader { cache: FontCache::new(), fonts, cmaps: Arc::new(hayro_cmap::load_embedded) }
    }
}

impl<'a> PdfReader<'a> {
    /// Gives the letters of a page to a layout, in the order in which they are drawn.
    pub fn read(&self, page: &Page<'a>, layout: &mut Layout) {
        let mut text = PageDrawing { reader: self, layout, depth: 0, span: None };
        text.draw(page.typed_operations(), page.resources(), &TextState::default());
        text.end_span();
    }
}

/// The state that operators of text set.
#[derive(Clone)]
struct TextState<'a> {
    /// From the space of the content to that of the page.
    space: Affine,
    font: Option<Font<'a>>,
    size: f64,
    /// Added to the advance of each letter, and of each space.
    letter_space: f64,
    word_space: f64,
    /// 1 is as wide as the font is.
    stretch: f64,
    leading: f64,
    rise: f64,
    /// From the space of text to that of the content: of the next letter, and of its line.
    at: Affine,
    line: Affine,
}

impl Default for TextState<'_> {
    fn default() -> Self {
        TextState {
            space: Affine::IDENTITY,
            font: None,
            size: 1.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            at: Affine::IDENTITY,
            line: Affine::IDENTITY,
        }
    }
}

impl TextState<'_> {
    fn set(&mut self, matrix: Affine) {
        (self.at, self.line) = (matrix, matrix);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.set(self.line * Affine::translate((x, y)));
    }

    fn is_horizontal(&self) -> bool {
        self.font.as_ref().is_none_or(Font::is_horizontal)
    }

    /// Moves on by so many units of text.
    fn advance(&mut self, by: f64) {
        let by = if self.is_horizontal() { (by * self.stretch, 0.0) } else { (0.0, by) };
        self.at *= Affine::translate(by);
    }
}

/// The text of one page, while it is drawn.
struct PageDrawing<'r, 'a, 'l> {
    reader: &'r PdfReader<'a>,
    layout: &'l mut Layout,
    depth: usize,
    span: Option<Span>,
}

impl<'a> PageDrawing<'_, 'a, '_> {
    fn draw(&mut self, mut operations: TypedIter<'_>, resources: &Resources<'a>, begin: &TextState<'a>) {
        let mut state = begin.clone();
        let mut states = Vec::new();
        while let Some(operation) = operations.next() {
            if self.layout.is_full() {
                return;
            }
            match operation {
                TypedInstruction::SaveState(_) if states.len() < MAX_STATES => states.push(state.clone()),
                TypedInstruction::RestoreState(_) => state = states.pop().unwrap_or(state),
                TypedInstruction::Transform(m) => {
                    let m = [m.0, m.1, m.2, m.3, m.4, m.5].map(|number| number.as_f64());
                    state.space *= Affine::new(m);
                }
                TypedInstruction::BeginText(_) => state.set(Affine::IDENTITY),
                TypedInstruction::SetTextMatrix(m) => {
                    state.set(Affine::new([m.0, m.1, m.2, m.3, m.4, m.5].map(|number| number.as_f64())));
                }
                TypedInstruction::TextFont(font) => {
                    state.size = font.1.as_f64();
                    state.font = match resources.get_font(font.0) {
                        Some(dict) => self.reader.cache.font(&dict, &self.reader.fonts, &self.reader.cmaps),
                        None => self.fallback(),
                    };
                }
                TypedInstruction::CharacterSpacing(space) => state.letter_space = space.0.as_f64(),
                TypedInstruction::WordSpacing(space) => state.word_space = space.0.as_f64(),
                TypedInstruction::HorizontalScaling(percent) => state.stretch = percent.0.as_f64() / 100.0,
                TypedInstruction::TextLeading(leading) => state.leading = leading.0.as_f64(),
                TypedInstruction::TextRise(rise) => state.rise = rise.0.as_f64(),
                TypedInstruction::NextLine(by) => state.next_line(by.0.as_f64(), by.1.as_f64()),
                TypedInstruction::NextLineAndSetLeading(by) => {
                    state.leading = -by.1.as_f64();
                    state.next_line(by.0.as_f64(), by.1.as_f64());
                }
                TypedInstruction::NextLineUsingLeading(_) => state.next_line(0.0, -state.leading),
                TypedInstruction::ShowText(text) => self.show(text.0.as_bytes(), &mut state),
                TypedInstruction::NextLineAndShowText(text) => {
                    state.next_line(0.0, -state.leading);
                    self.show(text.0.as_bytes(), &mut state);
                }
                TypedInstruction::ShowTextWithParameters(text) => {
                    (state.word_space, state.letter_space) = (text.0.as_f64(), text.1.as_f64());
                    state.next_line(0.0, -state.leading);
                    self.show(text.2.as_bytes(), &mut state);
                }
                TypedInstruction::ShowTexts(texts) => {
                    for part in texts.0.iter::<Object<'_>>() {
                        match part {
                            Object::Number(back) => {
                                state.advance(-back.as_f64() / f64::from(UNITS_PER_EM) * state.size);
                            }
                            Object::String(text) => self.show(text.as_bytes(), &mut state),
                            _ => {}
                        }
                    }
                }
                TypedInstruction::XObject(name) => {
                    if let Some(form) = resources.get_x_object(name.0) {
                        self.form(&form, resources, &state);
                    }
                }
                TypedInstruction::BeginMarkedContent(_) => self.begin_span(None),
                TypedInstruction::BeginMarkedContentWithProperties(marked) => {
                    let span = match marked.1 {
                        Object::Dict(inline) => span(inline),
                        Object::Name(name) => resources.properties.get::<Dict<'_>>(name).as_ref().and_then(span),
                        _ => None,
                    };
                    self.begin_span(span);
                }
                TypedInstruction::EndMarkedContent(_) if self.span.as_mut().is_some_and(Span::close) => self.end_span(),
                _ => {}
            }
        }
    }

    /// Marked content begins, which may have a text of its own.
    fn begin_span(&mut self, span: Option<Span>) {
        match &mut self.span {
            Some(outer) => outer.open(),
            None => self.span = span,
        }
    }

    fn end_span(&mut self) {
        if let Some(span) = self.span.take() {
            span.draw(self.layout);
        }
    }

    fn add(&mut self, glyph: &Drawn<'_>) {
        match &mut self.span {
            Some(span) => {
                if span.add(glyph) {
                    self.end_span();
                }
            }
            None => self.layout.add(glyph),
        }
    }

    /// Helvetica, as other readers assume where a font is missing.
    fn fallback(&self) -> Option<Font<'a>> {
        self.reader.cache.standard_font(StandardFont::Helvetica, &self.reader.fonts)
    }

    /// Draws a part of a page that is kept by itself.
    fn form(&mut self, form: &Stream<'a>, resources: &Resources<'a>, state: &TextState<'a>) {
        let is_form = form.dict().get::<Name<'_>>(SUBTYPE).is_some_and(|kind| *kind == *FORM);
        if !is_form || self.depth >= DEEPEST {
            return;
        }
        let Ok(content) = form.decoded_data() else { return };
        let own = form.dict().get(RESOURCES).map(Resources::new);
        let matrix = form.dict().get::<[f64; 6]>(MATRIX).map_or(Affine::IDENTITY, Affine::new);
        let begin = TextState { space: state.space * matrix, ..state.clone() };
        self.depth += 1;
        self.draw(TypedIter::new(&content), own.as_ref().unwrap_or(resources), &begin);
        self.depth -= 1;
    }

    fn show(&mut self, bytes: &[u8], state: &mut TextState<'a>) {
        if state.font.is_none() {
            state.font = self.fallback();
        }
        let Some(font) = state.font.clone() else { return };
        let em = f64::from(UNITS_PER_EM);
        let mut at = 0;
        while at < bytes.len() && !self.layout.is_full() {
            let (code, length) = font.read_code(bytes, at);
            at += length.max(1);
            let advance = font.code_advance(code);
            let glyph = font.glyph(font.map_code(code), code);
            let letters = match &glyph {
                FontGlyph::Outline(glyph) => glyph.as_unicode(),
                FontGlyph::Type3(glyph) => glyph.as_unicode(),
            };
            let scale = Affine::new([state.size * state.stretch, 0.0, 0.0, state.size, 0.0, state.rise]);
            let place = state.space * state.at * scale;
            let mut utf8 = [0; 4];
            self.add(&Drawn {
                letters: match &letters {
                    Some(BfString::Char(letter)) => Some(letter.encode_utf8(&mut utf8)),
                    Some(BfString::String(letters)) => Some(letters),
                    None => None,
                },
                start: place * Point::ZERO,
                end: place * Point::new(advance.x / em, advance.y / em),
                up: place * Point::new(0.0, 1.0),
            });
            let by = if font.is_horizontal() { advance.x } else { advance.y };
            let spaces = if code == 32 && length == 1 { state.word_space } else { 0.0 };
            state.advance(by / em * state.size + state.letter_space + spaces);
        }
    }
}

/// The span that these properties of marked content begin.
fn span(properties: &Dict<'_>) -> Option<Span> {
    Span::new(properties.get::<PdfString<'_>>(ACTUAL_TEXT)?.as_bytes())
}

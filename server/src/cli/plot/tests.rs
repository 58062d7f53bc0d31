use super::axes::Axes;
use super::*;

fn plot(points: &[(f64, f64, &str, Role)]) -> Plot {
    let point =
        |&(recall, micros, label, role): &(f64, f64, &str, Role)| Point { recall, micros, label: label.into(), role };
    Plot {
        title: "100,000 vectors of 384 numbers".into(),
        recall: "recall@10".into(),
        time: "time of a search, p50".into(),
        points: points.iter().map(point).collect(),
    }
}

fn some() -> Plot {
    plot(&[
        (0.861, 48.0, "16", Role::Effort),
        (0.949, 74.0, "32", Role::Effort),
        (0.984, 120.0, "64", Role::Effort),
        (0.995, 214.0, "128", Role::Effort),
        (0.999, 393.0, "256", Role::Effort),
        (0.908, 59.0, "fast", Role::Level),
        (0.969, 94.0, "balanced", Role::Own),
        (0.9953, 290.0, "high", Role::Level),
    ])
}

const SOME: &str = "\
time of a search, p50
        │                                                            ⢀• 256
        │                                                            ⢸
        │                                                      high ○⡇
        │                                                           ⢸
        │                                                           • 128
 200 µs ┤                                                         ⢀⠎
        │                                                        ⡰⠁
        │                                                       ⡔⠁
        │                                                   ⢀⡠⠤• 64
 100 µs ┤                                      balanced⢀◆⠤⠒⠊⠁
        │                                         ⢀⣀⠤⠒⠊⠁
        │                fast            ⢀⣀⣀⡠⠤⠤⠤•⠊⠁
        │                  ⢀⣀⣀○⠤⠤⠤⠔⠒⠒⠒⠉⠉⠉⠁        32
        │     ⣀⣀⣀⡠⠤⠤⠤⠒⠒⠒⠊⠉⠉⠁
  50 µs ┤•⠊⠉⠉⠉
        │  16
        └┬────────┬───────┬────────┬────────┬────────┬───────┬────────┬
       0.86     0.88    0.90     0.92     0.94     0.96    0.98     1.00
         recall@10      • ef   ○ level   ◆ your setting";

#[test]
fn a_plot_matches_its_snapshot() {
    let text = some().text(false);
    assert!(text == SOME, "{text}");
}

#[test]
fn colours_change_nothing_else() {
    let coloured = some().text(true);
    let plain: String = coloured
        .split('\x1b')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    assert_eq!(plain.lines().map(str::trim_end).collect::<Vec<_>>(), SOME.lines().collect::<Vec<_>>());
    assert!(coloured.contains("\x1b[1;33m◆\x1b[0m") && !some().text(false).contains('\x1b'));
}

#[test]
fn any_figures_fit_into_80_columns() {
    let alone = plot(&[(1.0, 80.0, "a label that is too long for the plot by far, and by far too long", Role::Effort)]);
    let same = plot(&[(1.0, 3.0, "12", Role::Effort), (1.0, 3.0, "fast", Role::Level), (1.0, 3.0, "high", Role::Own)]);
    let wide = plot(&[(0.0, 0.1, "1", Role::Effort), (1.0, 9e7, "1024", Role::Effort), (0.5, 1e3, "fast", Role::Own)]);
    for plot in [alone, same, wide, plot(&[]), some()] {
        let text = plot.text(false);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(plot.svg().ends_with("</svg>\n"));
    }
}

#[test]
fn ticks_are_round_numbers() {
    let names = |plot: Plot| {
        let Axes { recall, time } = Axes::of(&plot);
        [recall, time].map(|axis| axis.ticks.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(names(some()), ["0.86 0.88 0.90 0.92 0.94 0.96 0.98 1.00", "50 µs 100 µs 200 µs"]);
    let near = plot(&[(0.997, 610.0, "", Role::Effort), (1.0, 820.0, "", Role::Effort)]);
    assert_eq!(names(near), ["0.990 0.992 0.994 0.996 0.998 1.000", "600 µs 700 µs 800 µs 900 µs"]);
    let wide = plot(&[(0.2, 900.0, "", Role::Effort), (1.0, 2.5e6, "", Role::Effort)]);
    assert_eq!(names(wide)[1], "1 ms 2 ms 5 ms 10 ms 20 ms 50 ms 100 ms 200 ms 500 ms 1 s 2 s");
}

#[test]
fn the_svg_says_the_same_and_stays_well_formed() {
    let svg = Plot { title: "1 < 2 & \"so\" on".into(), ..some() }.svg();
    assert!(svg.contains("1 &lt; 2 &amp; \"so\" on") && svg.contains("prefers-color-scheme:dark"), "{svg}");
    for point in &some().points {
        assert!(svg.contains(&format!(">{}</text>", point.label)), "{} is missing in {svg}", point.label);
    }
    let [curve, dots] = ["<polyline", "<circle class=\"effort\""].map(|part| svg.matches(part).count());
    assert_eq!((curve, dots), (1, 6), "and one in the legend");
    // Every element is closed, in itself or by an end tag.
    let opened = svg.matches('<').count() - svg.matches("</").count() - svg.matches("/>").count();
    assert_eq!(opened, svg.matches("</").count(), "{svg}");
}
